#include <cstdio>
#include <tarn/deck.hpp>
#include <tarn/run.hpp>
#include <tarn/version.hpp>

/// The installed library from the outside: a deck, an engine, files.
int main() {
  const tarn::Deck deck = tarn::parse_deck(R"(
[system]
kind = "water"
model = "tip3p"
molecules = 2
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
  return result.steps_done == 20 ? 0 : 1;
}
