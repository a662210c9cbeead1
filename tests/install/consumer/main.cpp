#include <cstdint>
#include <cstdio>

#include <tarn/deck.hpp>
#include <tarn/engine.hpp>
#include <tarn/run.hpp>
#include <tarn/start.hpp>
#include <tarn/version.hpp>

std::uint64_t normals_plain();
std::uint64_t normals_fused();

/// Whether formulas of the headers depend on the instruction set for which they are compiled.
static bool bits_differ() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("fma")) return false;
#endif
  return normals_plain() != normals_fused();
}

/// Uses the installed library: formulas of its headers, a run of a deck, and an engine without a
/// run.
int main() {
  if (bits_differ()) {
    std::fputs("normal numbers depend on the instruction set\n", stderr);
    return 1;
  }

  const tarn::Deck deck = tarn::parse_deck(R"(
[system]
kind = "water"
model = "tip3p"
molecules = 2
replicas = 3
temperature_K = 10.0

[integrator]
scheme = "settle"
timestep_fs = 1.0

[run]
steps = 20

[observe.energies]
every = 10
)",
                                           "consumer.toml");
  tarn::RunOptions options;
  options.out_dir = "out";
  options.overwrite = true;
  const tarn::RunResult result = tarn::run_deck(deck, options);
  std::printf("tarn %s: %d steps on %s\n", tarn::kVersion.data(),
              static_cast<int>(result.steps_done), result.device.c_str());

  // The same without files: advance an engine and read its state.
  const tarn::Start start = tarn::make_start(deck);
  const auto engine = tarn::make_engine(tarn::make_system(deck, start.state.molecules), start.state,
                                        {}, {"cpu", 1});
  engine->advance(20);
  tarn::Frame frame;
  engine->snapshot(tarn::kPositions | tarn::kEnergies, frame);
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    std::printf("replica %d at %g ps: %.6f kcal/mol\n", static_cast<int>(frame.replica_ids[r]),
                frame.time_ps, frame.energies[r].total_kcal_per_mol);
  }
  const bool good = result.steps_done == 20 && engine->step() == 20 && frame.energies.size() == 3 &&
                    frame.positions_A.size() == 3 * 2 * 9;
  return good ? 0 : 1;
}
