#include "cluster_averages.hpp"

/// @file
/// Averages of the seven-molecule cluster at 10.06 K: energy, and distances between oxygens against
/// SHAKE. The same, long and sharper, in cluster_averages_long_test.cpp.

namespace tarn {
namespace {

using namespace test;

/// The scatter of <V0> over replicas of 1000 units is 0.04 kcal/mol, so that 192 of them give it to
/// 0.003 and 32 to 0.007: the tolerances of 0.03 and 0.06 are those of the reference numbers. The
/// histogram of 32 replicas is within 0.01 of that of many, in total variation.
TEST(ClusterAverages, AreThoseOfRigidWaterWhereBondsAreStiff) {
  constexpr double kSpinUp = 200.0, kDuration = 1000.0;
  const ClusterAverages shake = averages(paper_system("shake", 0.0, 1), 192, kSpinUp, kDuration);
  record_averages("shake", shake, shake);
  EXPECT_NEAR(shake.potential, -57.553, 0.03);
  EXPECT_LT(shake.potential_error, 0.006);
  EXPECT_NEAR(shake.temperature, 10.06, 4.5 * shake.temperature_error);
  EXPECT_LT(shake.temperature_error, 0.1);

  const auto run = [&](const std::string& scheme, double omega) {
    const std::string name = scheme + "_" + std::to_string(static_cast<int>(omega));
    SCOPED_TRACE(name);
    const ClusterAverages a = averages(paper_system(scheme, omega, 3), 32, kSpinUp, kDuration);
    record_averages(name, a, shake);
    EXPECT_NEAR(a.temperature, 10.06, 4.5 * a.temperature_error);
    EXPECT_LT(a.temperature_error, 0.25);
    EXPECT_LT(a.potential_error, 0.02);
    if (omega != 20.0) {
      EXPECT_LT(total_variation(a.oo, shake.oo), 0.028);
      EXPECT_LT(largest_distance(a.oo, shake.oo), 0.015);
      // No difference at all would mean that nothing was sampled.
      EXPECT_GT(total_variation(a.oo, shake.oo), 0.002);
    }
    return a;
  };
  EXPECT_NEAR(run("settle", 0.0).potential, -57.553, 0.03);
  EXPECT_NEAR(run("zss_structured", 100.0).potential, -57.81, 0.06);
  // A 25th of what soft bonds give at omega = 100, and what a step of 0.05 takes off (measured in
  // the long test: 0.022 at infinite omega, a fourth of it at half the step).
  EXPECT_NEAR(run("zss_structured", 500.0).potential, -57.553 - 0.24 / 25.0 - 0.022, 0.03);

  // omega = 20 is not rigid water, and its histogram shows it.
  const ClusterAverages soft = run("zss_structured", 20.0);
  EXPECT_NEAR(soft.potential, -63.84, 0.06);
  EXPECT_NEAR(total_variation(soft.oo, shake.oo), 0.16, 0.02);
  EXPECT_NEAR(soft.mean_distance - shake.mean_distance, -0.024, 0.002);
}

}  // namespace
}  // namespace tarn
