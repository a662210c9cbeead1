// Steps two thousand dimers at 100 K without files and prints a histogram of their O-O distances.
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include <tarn/core/error.hpp>
#include <tarn/deck.hpp>
#include <tarn/engine.hpp>
#include <tarn/start.hpp>

namespace {

/// Distance of the oxygens of the first two molecules. A molecule is nine numbers: O, H1, H2.
double oo_distance_A(std::span<const double> positions_A) {
  return std::hypot(positions_A[9] - positions_A[0], positions_A[10] - positions_A[1],
                    positions_A[11] - positions_A[2]);
}

}  // namespace

int main() try {
  const tarn::Deck deck = tarn::parse_deck(R"(
[system]
model = "tip4p"
molecules = 2
replicas = 2000
[integrator]
scheme = "settle"
timestep_fs = 2.0
[thermostat]
kind = "baoab"
temperature_K = 100.0
friction_per_ps = 5.0
[run]
steps = 0
)",
                                           "dimers.toml");
  const tarn::Start start = tarn::make_start(deck);
  const tarn::System system = tarn::make_system(deck, start.state.molecules);
  const auto engine = tarn::make_engine(system, start.state, {}, {.name = "cpu", .threads = 0});

  std::array<int, 12> histogram{};  // bins of 0.1 A from 2.4 A
  tarn::Frame frame;
  engine->advance(200);  // equilibrates: the start is at a minimum
  for (int sample = 0; sample < 20; ++sample) {
    engine->advance(20);
    engine->snapshot(tarn::kPositions, frame);
    for (std::size_t r = 0; r < frame.live(); ++r) {
      const double bin = (oo_distance_A(frame.positions_A_of(r)) - 2.4) / 0.1;
      if (bin >= 0.0 && bin < histogram.size()) ++histogram[static_cast<std::size_t>(bin)];
    }
  }
  for (std::size_t bin = 0; bin < histogram.size(); ++bin) {
    std::printf("%.1f A: %d\n", 2.4 + 0.1 * static_cast<double>(bin), histogram[bin]);
  }
  std::printf("%d samples, %d replicas stopped, at %.2f ps on %s\n", 20 * deck.system.replicas,
              static_cast<int>(engine->blow_ups().size()), frame.time_ps,
              engine->description().c_str());
} catch (const tarn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.code());
}
