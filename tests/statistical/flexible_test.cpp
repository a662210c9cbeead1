#include "quiet_run.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/start.hpp"

/// @file
/// Equipartition and heat capacity of flexible molecules.

namespace tarn {
namespace {

/// Translation, rotation and bonds of seven molecules have the temperature of the bath, with
/// velocity Verlet at its default step and, in the potential of harmonic bonds, with Z&Ss at four
/// times that. Velocities right after the noise have the temperature of the bath at any step if the
/// step is symmetric in time; rotations are defined at the positions of these velocities.
TEST(FlexibleEquipartition, AllClassesHaveTheTemperatureOfTheBath) {
  struct Case {
    const char* model;
    const char* scheme;
    double timestep_fs;
  };
  for (const Case& c : {Case{"qtip4pf", "verlet", 0.5},
                        {"tip4p2005f", "verlet", 0.5},
                        {"spcfw", "verlet", 0.5},
                        {"spcfw", "zss-stiff", 2.0}}) {
    SCOPED_TRACE(std::string(c.model) + ", " + c.scheme);
    const Deck deck = parse_deck(
        std::string("[system]\nmolecules = 7\nreplicas = 64\nmodel = \"") + c.model +
            "\"\n[integrator]\nscheme = \"" + c.scheme +
            "\"\ntimestep_fs = " + std::to_string(c.timestep_fs) +
            "\n[thermostat]\nkind = \"baoab\"\ntemperature_K = 298\nfriction_per_ps = 20\n"
            "[confinement]\nradius_A = 6\nstiffness_kcal_per_mol_A2 = 2\n[run]\nsteps = 1\n",
        "deck.toml");
    const auto engine = make_cpu_engine(make_system(deck, 7), make_start(deck).state, {}, 2);
    const auto steps_of_20_fs = static_cast<std::int64_t>(std::lround(20.0 / c.timestep_fs));
    engine->advance(25 * steps_of_20_fs);
    constexpr int kSamples = 60;
    std::array<std::vector<double>, 4> sums;
    for (auto& sum : sums) sum.assign(64, 0.0);
    Frame frame;
    for (int k = 0; k < kSamples; ++k) {
      engine->advance(steps_of_20_fs);
      engine->snapshot(kEnergies, frame);
      ASSERT_EQ(frame.energies.size(), 64u);
      for (std::size_t r = 0; r < 64; ++r) {
        const Energies& e = frame.energies[r];
        const double temperatures_K[] = {e.temperature_K, e.temperature_translation_K,
                                         e.temperature_rotation_K, e.temperature_bond_K};
        for (std::size_t i = 0; i < 4; ++i) sums[i][r] += temperatures_K[i] / kSamples;
      }
    }
    for (const std::vector<double>& sum : sums) {
      const analysis::MeanError t = analysis::mean_and_error(sum);
      // At most 2.5 K, which 64 replicas tell to 9 %: 4.5 of these more are 3.5 K.
      EXPECT_LT(t.error, 4.0);
      EXPECT_NEAR(t.mean, 298.0, 4.5 * t.error);
    }
  }
}

/// The heat capacity of one molecule: 9 k/2 of kinetic energy and 3 k/2 of its three vibrations,
/// which the anharmonic bonds change by less than 2 % at 100 K.
TEST(FlexibleHeatCapacity, IncludesBonds) {
  const test::ScratchFolder folder;
  const RunResult result = test::run_text(
      "[system]\nmodel = \"qtip4pf\"\nmolecules = 1\nreplicas = 256\n"
      "[integrator]\nscheme = \"verlet\"\n"
      "[thermostat]\nkind = \"baoab\"\ntemperatures_K = [90.0, 100.0]\n"
      "friction_per_ps = 20.0\n"
      "[run]\nequilibration_ps = 1.0\nduration_ps = 8.0\n"
      "[observe.energies]\nevery = 20\nreplicas = \"mean\"\n",
      folder);
  constexpr double k = units::boltzmann_kcal_per_mol_K;
  int seen = 0;
  for (const AveragedQuantity& a : result.averages) {
    if (a.quantity != "heat_capacity_kcal_per_mol_K") continue;
    ++seen;
    EXPECT_LT(a.error, 0.2 * k);
    EXPECT_NEAR(a.mean, 6.0 * k, 4.5 * a.error + 0.12 * k);
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace tarn
