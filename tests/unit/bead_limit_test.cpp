#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tarn/analysis/convergence.hpp"

/// @file
/// Extrapolation to infinitely many beads, equation (84).

namespace tarn::analysis {
namespace {

constexpr std::array<int, 4> kBeads{64, 8, 16, 32};

std::vector<MeanError> means_of(double (*value)(double), double error) {
  std::vector<MeanError> means;
  for (const int beads : kBeads) means.push_back({value(beads), error});
  return means;
}

TEST(BeadLimits, TermsAreExact) {
  const auto one = [](double p) { return 3.0 - 5.0 / (p * p); };
  const BeadLimit line = bead_limit(kBeads, means_of(one, 1e-6));
  EXPECT_NEAR(line.limit.mean, 3.0, 1e-13);
  EXPECT_NEAR(line.c1, -5.0, 1e-9);
  EXPECT_EQ(line.c2, 0.0);
  EXPECT_EQ(line.points, 4u);
  EXPECT_EQ(line.degrees_of_freedom, 2u);
  const auto two = [](double p) { return 3.0 - 5.0 / (p * p) + 700.0 / (p * p * p * p); };
  const BeadLimit curve = bead_limit(kBeads, means_of(two, 1e-6));
  EXPECT_NEAR(curve.limit.mean, 3.0, 1e-12);
  EXPECT_NEAR(curve.c1, -5.0, 1e-8);
  EXPECT_NEAR(curve.c2, 700.0, 1e-5);
  EXPECT_EQ(curve.degrees_of_freedom, 1u);
  EXPECT_NEAR(curve.at(16.0), two(16.0), 1e-12);
}

/// Two means give a line; its error is that of the sum a y(2) - b y(1).
TEST(BeadLimits, ErrorsFollowFromTheWeights) {
  const std::array<int, 2> beads{16, 32};
  const std::array<MeanError, 2> means{{{1.0, 0.3}, {2.0, 0.1}}};
  const BeadLimit line = bead_limit(beads, means);
  EXPECT_NEAR(line.limit.mean, (4.0 * 2.0 - 1.0) / 3.0, 1e-14);
  EXPECT_NEAR(line.limit.error, std::hypot(4.0 * 0.1, 0.3) / 3.0, 1e-14);
  EXPECT_EQ(line.degrees_of_freedom, 0u);
}

/// Kinetic energy of a quantum oscillator with P beads, in units of kT, from the sum over the modes
/// of its ring; its limit is (x/4) coth(x/2).
double oscillator(double p) {
  constexpr double x = 15.0;
  double sum = 0.0;
  for (int k = 0; k < static_cast<int>(p); ++k) {
    const double s = 2.0 * p * std::sin(k * M_PI / p);
    sum += 0.5 * x * x / (x * x + s * s);
  }
  return sum;
}

/// With small errors, few beads are left out: with them the terms do not suffice.
TEST(BeadLimits, LeavesOutTooFewBeads) {
  constexpr double x = 15.0;
  const double exact = 0.25 * x / std::tanh(0.5 * x);
  const BeadLimit precise = bead_limit(kBeads, means_of(oscillator, 1e-4));
  EXPECT_EQ(precise.points, 3u);
  EXPECT_EQ(precise.degrees_of_freedom, 0u);
  EXPECT_NEAR(precise.limit.mean, exact, 2e-3 * exact);
  // Much closer than the largest number of beads alone.
  EXPECT_LT(std::abs(precise.limit.mean - exact), 0.1 * (exact - oscillator(64)));
  // Large errors allow all beads.
  EXPECT_EQ(bead_limit(kBeads, means_of(oscillator, 1.0)).points, 4u);
}

/// Errors that grow with P, as those of the primitive estimator do, let the fewest beads dominate
/// the fit. Exact means show by how much the terms that it lacks move the limit.
TEST(BeadLimits, FewBeadsWithSmallErrorsDoNotBendTheLimit) {
  constexpr double x = 15.0;
  const double exact = 0.25 * x / std::tanh(0.5 * x);
  const std::array<int, 6> beads{16, 24, 32, 60, 96, 198};
  double most = 0.0;
  int checked = 0;
  for (double size = 1e-5; size < 1.0; size *= 1.3) {
    std::vector<MeanError> means;
    for (const int p : beads) means.push_back({oscillator(p), size * p / 16.0});
    const BeadLimit fit = bead_limit(beads, means);
    most = std::max(most, std::abs(fit.limit.mean - exact) / fit.limit.error);
    if (fit.points == 3) continue;  // nothing is left to leave out
    ++checked;
    EXPECT_LT(std::abs(fit.limit.mean - exact), 3.0 * fit.limit.error) << size;
  }
  RecordProperty("most", std::to_string(most));
  EXPECT_GT(checked, 10);
}

TEST(BeadLimits, UnknownMeansAndErrors) {
  const double none = std::nan("");
  const std::array<int, 3> beads{8, 16, 32};
  const BeadLimit two =
      bead_limit(beads, std::array<MeanError, 3>{{{none, none}, {1.0, 0.1}, {2.0, 0.1}}});
  EXPECT_EQ(two.points, 2u);
  EXPECT_NEAR(two.limit.mean, 7.0 / 3.0, 1e-14);
  const BeadLimit without_errors =
      bead_limit(beads, std::array<MeanError, 3>{{{0.0, 0.1}, {1.0, 0.0}, {2.0, 0.1}}});
  EXPECT_EQ(without_errors.limit.error, 0.0);
  EXPECT_EQ(without_errors.points, 3u);
  const BeadLimit one =
      bead_limit(beads, std::array<MeanError, 3>{{{none, none}, {1.0, 0.1}, {none, none}}});
  EXPECT_TRUE(std::isnan(one.limit.mean));
  EXPECT_EQ(one.points, 0u);
}

}  // namespace
}  // namespace tarn::analysis
