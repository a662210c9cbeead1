#include "cluster_averages.hpp"

/// @file
/// Averages of the seven-molecule cluster at 10.06 K: energy, and distances between oxygens against
/// SHAKE. The same, long and sharper, in cluster_averages_long_test.cpp.

namespace tarn {
namespace {

using namespace test;

/// The reference numbers are told to a digit, and known to half of it: <V0> within that and 4.5
/// standard errors.
TEST(ClusterAverages, EqualRigidWaterForStiffBonds) {
  constexpr double kSpinUp = 200.0, kDuration = 1000.0;
  constexpr int kOfShake = 192, kReplicas = 32;
  const auto expect_potential = [](const ClusterAverages& a, double expected, double digit) {
    EXPECT_NEAR(a.potential, expected, 4.5 * a.potential_error + 0.5 * digit);
  };
  const auto expect_errors = [](const ClusterAverages& a, double scatter, int replicas) {
    EXPECT_LT(a.potential_error, largest_error(scatter, replicas, kDuration));
    EXPECT_LT(a.temperature_error, largest_error(kTemperatureScatter, replicas, kDuration));
    EXPECT_NEAR(a.temperature, 10.06, 4.5 * a.temperature_error);
  };
  const ClusterAverages shake =
      averages(paper_system("shake", 0.0, 1), kOfShake, kSpinUp, kDuration);
  record_averages("shake", shake, shake);
  expect_potential(shake, -57.553, 0.001);
  expect_errors(shake, kPotentialScatter, kOfShake);

  const double chance = noise(kDuration, kReplicas, kDuration, kOfShake);
  const auto run = [&](const std::string& scheme, double omega) {
    const std::string name = scheme + "_" + std::to_string(static_cast<int>(omega));
    SCOPED_TRACE(name);
    const ClusterAverages a =
        averages(paper_system(scheme, omega, 3), kReplicas, kSpinUp, kDuration);
    record_averages(name, a, shake);
    expect_errors(a, omega == 20.0 ? kSoftPotentialScatter : kPotentialScatter, kReplicas);
    if (omega != 20.0) {
      EXPECT_LT(total_variation(a.oo, shake.oo),
                of_soft_bonds(kSoftVariation, omega) + largest_variation(chance));
      EXPECT_LT(largest_distance(a.oo, shake.oo),
                of_soft_bonds(kSoftDistance, omega) + largest_distance_by_chance(chance));
      // No difference at all would mean that nothing was sampled.
      EXPECT_GT(total_variation(a.oo, shake.oo), 0.002);
    }
    return a;
  };
  expect_potential(run("settle", 0.0), -57.553, 0.001);
  expect_potential(run("zss_structured", 100.0), -57.81, 0.01);
  // A 25th of what soft bonds give at omega = 100, and what a step of 0.05 takes off (measured in
  // the long test: 0.022 at infinite omega, a fourth of it at half the step).
  expect_potential(run("zss_structured", 500.0), -57.553 - 0.24 / 25.0 - 0.022, 0.001);

  // omega = 20 is not rigid water, and its histogram shows it.
  const ClusterAverages soft = run("zss_structured", 20.0);
  expect_potential(soft, -63.84, 0.01);
  EXPECT_NEAR(total_variation(soft.oo, shake.oo), kSoftVariation,
              0.5e-3 + largest_variation(chance));
  EXPECT_NEAR(soft.mean_distance - shake.mean_distance, -0.024,
              0.5e-3 + 4.5 * kMeanDistanceScatter * chance);
}

}  // namespace
}  // namespace tarn
