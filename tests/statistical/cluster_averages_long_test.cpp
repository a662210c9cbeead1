#include "cluster_averages.hpp"

/// @file
/// cluster_averages_test.cpp with some fifty times the samples: the schemes are compared with each
/// other by their own standard errors, and not only with reference numbers.

namespace tarn {
namespace {

using namespace test;

TEST(ClusterAveragesLong, SchemesAgreeWithinTheirErrors) {
  constexpr double kSpinUp = 2000.0, kDuration = 5000.0;
  constexpr int kReplicas = 384;
  const auto run = [&](const std::string& name, const std::string& scheme, double omega,
                       const ClusterAverages* reference) {
    const ClusterAverages a =
        averages(paper_system(scheme, omega, 5), kReplicas, kSpinUp, kDuration);
    record_averages(name, a, reference != nullptr ? *reference : a);
    EXPECT_NEAR(a.temperature, 10.06, 4.5 * a.temperature_error) << name;
    return a;
  };
  const ClusterAverages shake = run("shake", "shake", 0.0, nullptr);
  const ClusterAverages settle = run("settle", "settle", 0.0, &shake);
  const ClusterAverages infinite = run("zss_infinite", "zss_infinite", 0.0, &shake);
  const ClusterAverages stiff = run("zss_100", "zss_structured", 100.0, &shake);
  const ClusterAverages soft = run("zss_20", "zss_structured", 20.0, &shake);

  EXPECT_NEAR(shake.potential, -57.553, 0.03);
  EXPECT_NEAR(stiff.potential, -57.81, 0.06);
  EXPECT_NEAR(soft.potential, -63.84, 0.06);
  EXPECT_LT(shake.potential_error, 0.002);
  const auto expect_same = [&](const ClusterAverages& a) {
    EXPECT_NEAR(a.potential, shake.potential,
                4.5 * std::hypot(a.potential_error, shake.potential_error));
    // Noise goes as one over the root of the samples: 60 times those of the 0.01 above.
    EXPECT_LT(total_variation(a.oo, shake.oo), 0.006);
    EXPECT_LT(largest_distance(a.oo, shake.oo), 0.003);
  };
  expect_same(settle);
  expect_same(infinite);
  EXPECT_LT(total_variation(stiff.oo, shake.oo), 0.028);
  EXPECT_LT(largest_distance(stiff.oo, shake.oo), 0.015);
  EXPECT_NEAR(total_variation(soft.oo, shake.oo), 0.16, 0.01);
  EXPECT_NEAR(soft.mean_distance - shake.mean_distance, -0.024, 0.002);
}

/// One long run alone: 10000 units hold about as much as ten replicas of 1000, a noise of 0.02.
TEST(ClusterAveragesLong, OneLongRunGivesTheHistogram) {
  const ClusterAverages shake = averages(paper_system("shake", 0.0, 5), 384, 500.0, 2000.0);
  for (const auto& [scheme, omega] : {std::pair{"shake", 0.0}, {"zss_structured", 100.0}}) {
    for (std::uint64_t seed = 10; seed < 18; ++seed) {
      // Two replicas, so that there is a standard error; each has 5000 units.
      const ClusterAverages a = averages(paper_system(scheme, omega, seed), 2, 500.0, 5000.0);
      EXPECT_LT(total_variation(a.oo, shake.oo), 0.06) << scheme << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tarn
