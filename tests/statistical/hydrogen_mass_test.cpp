#include "engine_fixtures.hpp"
#include "tarn/analysis/errors.hpp"
#include "tarn/start.hpp"

/// @file
/// Hydrogen mass repartitioning: the distribution of positions of rigid molecules does not know
/// the masses (the determinant of the mass matrix of a rigid body does not depend on its
/// position), the dynamics does. Bounds are 4.5 standard errors over independent replicas.

namespace tarn {
namespace {

using namespace test;
using analysis::MeanError;

constexpr double kTemperature_K = 10.06;
constexpr int kReplicas = 256;
/// A typical energy, taken off before squares are.
constexpr double kShift_kcal_per_mol = -57.55;

/// Means over replicas of their averages over 20 ps.
struct Averages {
  MeanError potential, square;  ///< of V0, and of its distance from a typical value
  MeanError translation_K, rotation_K;
  MeanError hydrogen_speed2;  ///< mean square of the hydrogens' velocities [A^2/akma^2]
};

Averages averages_with(double hydrogen_mass_Da) {
  const std::string source(TARN_SOURCE_DIR);
  const Deck deck =
      parse_deck("[system]\nfile = \"" + source +
                     "/inputs/structures/tip3p-7.xyz\"\nreplicas = " + std::to_string(kReplicas) +
                     "\nhydrogen_mass_Da = " + std::to_string(hydrogen_mass_Da) +
                     "\nkeep_molecule_mass = true\n[integrator]\nscheme = \"settle\"\ntimestep_fs "
                     "= 2.0\n[thermostat]\nkind = \"baoab\"\n"
                     "temperature_K = 10.06\nfriction_per_ps = 5.0\n[run]\nsteps = 1\n",
                 "deck.toml");
  const auto engine = make_cpu_engine(make_system(deck, 7), make_start(deck).state, {});
  engine->advance(4'000);
  constexpr int kSamples = 50;
  std::vector<std::vector<double>> sums(5, std::vector<double>(kReplicas));
  Frame f;
  for (int sample = 0; sample < kSamples; ++sample) {
    engine->advance(200);
    engine->snapshot(kEnergies | kVelocities, f);
    for (std::size_t r = 0; r < kReplicas; ++r) {
      const Energies& e = f.energies[r];
      const double v0 = e.potential_kcal_per_mol - kShift_kcal_per_mol;
      double speed2 = 0.0;
      for (std::size_t c = 0; c < 63; ++c) {
        const double v = f.velocities_A_per_akma[r * 63 + c];
        speed2 += c % 9 < 3 ? 0.0 : v * v;
      }
      const double now[] = {v0, v0 * v0, e.temperature_translation_K, e.temperature_rotation_K,
                            speed2 / 14.0};
      for (std::size_t k = 0; k < 5; ++k) sums[k][r] += now[k] / kSamples;
    }
  }
  EXPECT_TRUE(engine->blow_ups().empty());
  const auto mean = [&](std::size_t k) { return analysis::mean_and_error(sums[k]); };
  return {mean(0), mean(1), mean(2), mean(3), mean(4)};
}

void expect_equal(const MeanError& a, const MeanError& b, const char* what) {
  EXPECT_NEAR(a.mean, b.mean, 4.5 * std::hypot(a.error, b.error)) << what;
}

TEST(HydrogenMass, ChangesNoAverageOfRigidMolecules) {
  const Averages light = averages_with(units::mass_hydrogen_Da);
  // 36 harmonic degrees of freedom scatter by kT sqrt(18) = 0.085 kcal/mol; 256 replicas of some
  // fifty independent samples each know the mean to 0.001 and tell a shift of one percent of it.
  EXPECT_LT(light.potential.error, 0.002);
  for (const double mass_Da : {0.5, 3.024}) {
    SCOPED_TRACE(mass_Da);
    const Averages other = averages_with(mass_Da);
    RecordProperty("V0_" + std::to_string(mass_Da), std::to_string(other.potential.mean));
    expect_equal(other.potential, light.potential, "mean of V0");
    expect_equal(other.square, light.square, "mean square of V0");
    expect_equal(other.translation_K, {kTemperature_K, 0.0}, "temperature of translation");
    expect_equal(other.rotation_K, {kTemperature_K, 0.0}, "temperature of rotation");
    // That the mass was changed at all shows in the speeds: a rigid hydrogen moves as
    // sum over its three directions of kT/m_effective, which falls with its mass.
    const double shift = other.hydrogen_speed2.mean - light.hydrogen_speed2.mean;
    const double error = std::hypot(other.hydrogen_speed2.error, light.hydrogen_speed2.error);
    EXPECT_GT(mass_Da < 1.0 ? shift : -shift, 4.5 * error);
  }
}

}  // namespace
}  // namespace tarn
