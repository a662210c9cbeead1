#include "quiet_run.hpp"

/// @file
/// The errors that a run tells are those of its averages.

namespace tarn {
namespace {

/// The kinetic temperature has a known mean and a known variance: 2 T^2 / f for f = 6 N degrees of
/// freedom. One replica (blocks of time) and many (their spread too).
TEST(Averages, OfTheTemperatureAreWithinTheirErrors) {
  const double temperature_K = 150.0;
  const int molecules = 7;
  for (const int replicas : {1, 40}) {
    SCOPED_TRACE(replicas);
    const test::ScratchFolder folder;
    const int steps = 1'200'000 / replicas;
    const RunResult result =
        test::run_text("[system]\nmolecules = 7\nreplicas = " + std::to_string(replicas) +
                           "\n[integrator]\nscheme = \"settle\"\ntimestep_fs = 1.0\n"
                           "[thermostat]\nkind = \"baoab\"\ntemperature_K = 150.0\n"
                           "friction_per_ps = 10.0\n[run]\nequilibration_ps = 3.0\nsteps = " +
                           std::to_string(steps) + "\n[observe.energies]\nevery = 20\n",
                       folder);
    const AveragedQuantity& t = result.averages.at(4);
    ASSERT_EQ(t.quantity, "temperature_K");
    EXPECT_TRUE(t.converged);
    EXPECT_LT(t.error, 0.01 * temperature_K);
    // The error is itself uncertain by some 10 %; BAOAB's velocities right after the noise are
    // Maxwell's for harmonic forces, and 0.1 % is left for others.
    EXPECT_NEAR(t.mean, temperature_K, 4.5 * 1.1 * t.error + 1e-3 * temperature_K);
    // error^2 n_ind is the variance of the temperature, to the noise of n_ind squares.
    const double variance = 2.0 * temperature_K * temperature_K / (6.0 * molecules);
    EXPECT_NEAR(t.error * t.error * t.independent_samples / variance, 1.0,
                4.5 * std::sqrt(2.0 / t.independent_samples));
    // Correlated, but by no more than the libration and the noise leave: 1 / (2 Gamma) = 0.05 ps is
    // that of a free particle.
    EXPECT_GT(t.autocorrelation_ps.value(), 0.01);
    EXPECT_LT(t.autocorrelation_ps.value(), 0.5);
  }
}

}  // namespace
}  // namespace tarn
