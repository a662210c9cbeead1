#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tarn/cpu_engine.hpp"
#include "tarn/deck.hpp"
#include "tarn/start.hpp"

namespace tarn {
namespace {

/// Each replica has the bath of its own temperature, from its first velocities on.
TEST(Temperatures, AreThoseOfTheReplicas) {
  const std::array<double, 3> baths{10.0, 80.0, 320.0};
  const Deck deck = parse_deck(R"(
[system]
molecules = 1
replicas = 3000
[integrator]
scheme = "settle"
[thermostat]
kind = "gla"
temperatures_K = [10.0, 80, 320.0]
friction_per_ps = 20.0
[run]
steps = 1
)",
                               "temperatures.toml");
  EXPECT_EQ(parse_deck(resolved_deck(deck), "temperatures.toml").thermostat, deck.thermostat);
  const Start start = make_start(deck);
  const auto engine = make_cpu_engine(make_system(deck, 1), start.state, {}, 1);
  for (const int steps : {0, 300}) {
    engine->advance(steps);
    Frame frame;
    engine->snapshot(kEnergies, frame);
    std::array<double, 3> mean{};
    for (std::size_t r = 0; r < frame.energies.size(); ++r) {
      mean[r % 3] += frame.energies[r].temperature_K / 1000.0;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      // 1000 replicas of six degrees of freedom: relative variance 2/6000; 4.5 sigma.
      EXPECT_NEAR(mean[k] / baths[k], 1.0, 4.5 * std::sqrt(2.0 / 6000.0)) << "after " << steps;
    }
  }
}

}  // namespace
}  // namespace tarn
