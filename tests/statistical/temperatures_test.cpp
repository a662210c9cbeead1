#include "tarn/cpu_engine.hpp"
#include "tarn/deck.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

/// Means over the replicas.
struct MeanTemperatures {
  double all = 0.0, translation = 0.0, rotation = 0.0, bonds = 0.0;

  explicit MeanTemperatures(Engine& engine) {
    Frame frame;
    engine.snapshot(kEnergies, frame);
    const double share = 1.0 / static_cast<double>(frame.energies.size());
    for (const Energies& e : frame.energies) {
      all += share * e.temperature_K;
      translation += share * e.temperature_translation_K;
      rotation += share * e.temperature_rotation_K;
      bonds += share * e.temperature_bond_K;
    }
  }
};

/// Each replica has the bath of its own temperature, from its first velocities on.
TEST(Temperatures, MatchTheBathOfEachReplica) {
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

/// Six degrees of freedom without energy are not counted: each class has the temperature drawn.
TEST(Temperatures, OfAClusterThatNeitherMovesNorTurns) {
  for (const std::string scheme : {"settle", "verlet", "settle without noise"}) {
    for (const int molecules : {2, 3}) {
      SCOPED_TRACE(fmt::format("{}, {} molecules", scheme, molecules));
      constexpr int kReplicas = 4000;
      Deck deck = parse_deck(fmt::format(R"(
[system]
molecules = {}
replicas = {}
start = "random"
temperature_K = 100.0
remove_momentum = true
[integrator]
scheme = "{}"
{}
[run]
steps = 1
)",
                                         molecules, kReplicas, scheme.substr(0, 6),
                                         scheme.size() > 6 ? "[thermostat]\nkind = \"gla\"\n"
                                                             "temperature_K = 100\n"
                                                             "friction_per_ps = 0.0\n"
                                                           : ""),
                             "temperatures.toml");
      deck.system.relax = false;
      const Start start = make_start(deck);
      const auto engine = make_cpu_engine(make_system(deck, molecules), start.state, {}, 1);
      ASSERT_TRUE(engine->blow_ups().empty());
      const MeanTemperatures mean(*engine);
      // Relative variance of a temperature: 2 / (degrees of freedom, replicas); 4.5 sigma. The
      // cluster turns by at most three of the degrees of freedom of molecules that move.
      const int n = molecules;
      const auto bound = [&](int degrees) { return 450.0 * std::sqrt(2.0 / degrees / kReplicas); };
      EXPECT_NEAR(mean.all, 100.0, bound(6 * n - 6));
      EXPECT_NEAR(mean.translation, 100.0, bound(n == 2 ? 1 : 3 * n - 6));
      EXPECT_NEAR(mean.rotation, 100.0, bound(3 * n - 3));
    }
  }
}

/// Velocities right after the noise of BAOAB are told apart into classes at the positions where the
/// noise came, half a drift before those of the Frame: with steps in which molecules turn by some
/// tenth, and noise that leaves nothing of the velocities before it, each class has the bath's
/// temperature.
TEST(Temperatures, OfBaoabAreMeasuredAfterTheNoise) {
  constexpr int kReplicas = 6000;
  for (const char* scheme : {"settle", "rattle", "zss-stiff"}) {
    SCOPED_TRACE(scheme);
    const Deck deck = parse_deck(fmt::format(R"(
[system]
molecules = 1
replicas = {}
[integrator]
scheme = "{}"
timestep_fs = 16.0
[thermostat]
kind = "baoab"
temperature_K = 300.0
friction_per_ps = 1e5
[run]
steps = 1
)",
                                             kReplicas, scheme),
                                 "temperatures.toml");
    const auto engine = make_cpu_engine(make_system(deck, 1), make_start(deck).state, {}, 1);
    engine->advance(1);
    ASSERT_TRUE(engine->blow_ups().empty());
    const MeanTemperatures mean(*engine);
    // Three degrees of freedom each; 4.5 sigma. At the positions of the Frame molecules that turn
    // would have 8 % less.
    const double bound = 300.0 * 4.5 * std::sqrt(2.0 / 3.0 / kReplicas);
    EXPECT_NEAR(mean.translation, 300.0, bound);
    EXPECT_NEAR(mean.rotation, 300.0, bound);
    if (std::string_view(scheme) == "zss-stiff") {
      EXPECT_NEAR(mean.bonds, 300.0, bound);
    } else {
      EXPECT_EQ(mean.bonds, 0.0);
    }
  }
}

/// Nothing moves, and nothing is divided by nothing.
TEST(Temperatures, OfOneMoleculeAtRest) {
  const Deck deck = parse_deck("[system]\nmolecules = 1\n[run]\nsteps = 1\n", "rest.toml");
  const auto engine = make_cpu_engine(make_system(deck, 1), make_start(deck).state, {}, 1);
  Frame frame;
  engine->snapshot(kEnergies, frame);
  EXPECT_EQ(frame.energies[0].temperature_translation_K, 0.0);
  EXPECT_EQ(frame.energies[0].temperature_rotation_K, 0.0);
  Deck moving = deck;
  moving.system.temperature_K = 10.0;
  moving.system.remove_momentum = true;
  EXPECT_THROW(make_system(moving, 1), InputError);
}

}  // namespace
}  // namespace tarn
