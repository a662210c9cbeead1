#include "cluster_averages.hpp"

/// @file
/// Averages of the seven-molecule cluster at 10.06 K: energy, and distances between oxygens against
/// SHAKE; with the label `long` also sharper.

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

/// Some fifty times the samples: schemes are compared with each other by their own standard errors.
TEST(ClusterAverages, AgreeWithinTheirErrors) {
  if (!covers_everything()) GTEST_SKIP() << "a long test";
  constexpr double kSpinUp = 2000.0, kDuration = 5000.0;
  constexpr int kReplicas = 384;
  const auto run = [&](const std::string& name, const System& system,
                       const ClusterAverages* reference) {
    const ClusterAverages a = averages(system, kReplicas, kSpinUp, kDuration);
    record_averages(name, a, reference != nullptr ? *reference : a);
    EXPECT_LT(a.temperature_error, largest_error(kTemperatureScatter, kReplicas, kDuration))
        << name;
    return a;
  };
  const auto expect_temperature = [&](const ClusterAverages& a) {
    EXPECT_NEAR(a.temperature, 10.06, 4.5 * a.temperature_error);
  };
  const ClusterAverages shake = run("shake", paper_system("shake", 0.0, 5), nullptr);
  const ClusterAverages settle = run("settle", paper_system("settle", 0.0, 6), &shake);
  const ClusterAverages infinite =
      run("zss_infinite", paper_system("zss_infinite", 0.0, 7), &shake);
  const ClusterAverages stiff = run("zss_100", paper_system("zss_structured", 100.0, 8), &shake);
  const ClusterAverages soft = run("zss_20", paper_system("zss_structured", 20.0, 9), &shake);

  // The reference numbers are known to half of their last digit.
  EXPECT_NEAR(shake.potential, -57.553, 4.5 * shake.potential_error + 0.5e-3);
  EXPECT_NEAR(stiff.potential, -57.81, 4.5 * stiff.potential_error + 0.5e-2);
  EXPECT_NEAR(soft.potential, -63.84, 4.5 * soft.potential_error + 0.5e-2);
  EXPECT_LT(shake.potential_error, largest_error(kPotentialScatter, kReplicas, kDuration));
  expect_temperature(shake);
  expect_temperature(settle);
  expect_temperature(infinite);
  expect_temperature(stiff);
  // Soft bonds at this step warm by up to a hundredth.
  EXPECT_NEAR(soft.temperature, 1.005 * 10.06, 0.005 * 10.06 + 4.5 * soft.temperature_error);

  EXPECT_NEAR(settle.potential, shake.potential,
              4.5 * std::hypot(settle.potential_error, shake.potential_error));
  const double chance = noise(kDuration, kReplicas, kDuration, kReplicas);
  for (const auto& [a, omega] :
       {std::pair(&settle, 0.0), std::pair(&infinite, 0.0), std::pair(&stiff, 100.0)}) {
    EXPECT_LT(total_variation(a->oo, shake.oo),
              of_soft_bonds(kSoftVariation, omega) + largest_variation(chance));
    EXPECT_LT(largest_distance(a->oo, shake.oo),
              of_soft_bonds(kSoftDistance, omega) + largest_distance_by_chance(chance));
  }
  EXPECT_NEAR(total_variation(soft.oo, shake.oo), kSoftVariation,
              0.5e-3 + largest_variation(chance));
  EXPECT_NEAR(soft.mean_distance - shake.mean_distance, -0.024,
              0.5e-3 + 4.5 * kMeanDistanceScatter * chance);

  // A step of finite length lowers <V0> of Z&Ss at infinite omega, to second order: half the step
  // leaves a fourth.
  System half = paper_system("zss_infinite", 0.0, 7);
  half.integrator.timestep_akma /= 2.0;
  const ClusterAverages finer = run("zss_infinite_half_step", half, &shake);
  const double error = std::hypot(finer.potential_error, shake.potential_error);
  EXPECT_NEAR(infinite.potential - shake.potential, -0.022,
              4.5 * std::hypot(infinite.potential_error, shake.potential_error) + 0.5e-3);
  EXPECT_NEAR(finer.potential - shake.potential, 0.25 * (infinite.potential - shake.potential),
              4.5 * error);
}

/// One long run alone: 10000 units hold about as much as ten replicas of 1000.
TEST(ClusterAverages, OfOneLongRunGiveTheHistogram) {
  if (!covers_everything()) GTEST_SKIP() << "a long test";
  const ClusterAverages shake = averages(paper_system("shake", 0.0, 5), 384, 500.0, 2000.0);
  const double chance = noise(5000.0, 2, 2000.0, 384);
  for (const auto& [scheme, omega] : {std::pair{"shake", 0.0}, {"zss_structured", 100.0}}) {
    for (std::uint64_t seed = 10; seed < 18; ++seed) {
      // Two replicas, so that there is a standard error; each has 5000 units.
      const ClusterAverages a = averages(paper_system(scheme, omega, seed), 2, 500.0, 5000.0);
      EXPECT_LT(total_variation(a.oo, shake.oo),
                of_soft_bonds(kSoftVariation, omega) + largest_variation(chance))
          << scheme << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tarn
