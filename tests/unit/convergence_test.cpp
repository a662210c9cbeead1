#include "tarn/analysis/convergence.hpp"

#include "testing.hpp"

namespace tarn::analysis {
namespace {

const std::vector<double> kSteps{0.4, 0.2, 0.1, 0.05, 0.025};

/// Logarithms up to 10 over those of steps.
constexpr double kOfLogarithms = test::few_roundings(10.0);

std::vector<double> errors(double (*error)(double h)) {
  std::vector<double> all;
  for (const double h : kSteps) all.push_back(error(h));
  return all;
}

TEST(OrderFit, FindsThePowerOfTheStep) {
  for (const double order : {1.0, 2.0, 4.0}) {
    std::vector<double> of_power;
    for (const double h : kSteps) of_power.push_back(3.0 * std::pow(h, order));
    const OrderFit fit = fit_order(kSteps, of_power);
    EXPECT_NEAR(fit.order, order, kOfLogarithms);
    EXPECT_LT(fit.spread, kOfLogarithms);
    EXPECT_EQ(fit.points, 5u);
    EXPECT_EQ(fit.smallest_step, 0.025);
    EXPECT_EQ(fit.largest_step, 0.4);
  }
}

/// Slopes of h² (1 + 3 h), from the small steps on: log2 4 (1 + 6 h)/(1 + 3 h) = 2.10, 2.18, 2.30,
/// 2.46. A tenth of 2.10 takes in the second and the third.
TEST(OrderFit, UsesStepsWithEqualSlopes) {
  const std::vector<double> e = errors([](double h) { return h * h * (1.0 + 3.0 * h); });
  const OrderFit fit = fit_order(kSteps, e);
  EXPECT_EQ(fit.points, 4u);
  EXPECT_EQ(fit.largest_step, 0.2);
  EXPECT_NEAR(fit.spread, std::log2((1.6 / 1.3) / (1.15 / 1.075)), kOfLogarithms);
  EXPECT_GT(fit.order, 2.10);
  EXPECT_LT(fit.order, 2.30);
  // In any order, and with unknown errors.
  const std::array<double, 6> steps{0.05, 0.8, 0.2, 0.025, 0.4, 0.1};
  const std::array<double, 6> mixed{e[3], std::nan(""), e[1], e[4], e[0], e[2]};
  EXPECT_EQ(fit_order(steps, mixed).order, fit.order);
}

TEST(OrderFit, ReportsAFitOfTwoPoints) {
  // Order 2, and at the smallest steps order 1.
  const OrderFit fit =
      fit_order(kSteps, errors([](double h) { return h > 0.04 ? h * h : 0.05 * h; }));
  EXPECT_EQ(fit.points, 2u);
  EXPECT_NEAR(fit.order, 1.0, kOfLogarithms);
  EXPECT_TRUE(std::isnan(fit.spread));
}

TEST(OrderFit, ThereIsNoneWhereTheErrorLevelsOff) {
  const OrderFit fit = fit_order(kSteps, errors([](double h) { return h * h + 0.01; }));
  EXPECT_TRUE(std::isnan(fit.order));
  EXPECT_EQ(fit.points, 0u);
  EXPECT_TRUE(std::isnan(fit_order(std::array{0.1}, std::array{0.1}).order));
  EXPECT_TRUE(std::isnan(fit_order(kSteps, std::vector(5, 0.0)).order));  // without any error
}

// --- extrapolation to infinitely many beads, equation (84) ---

constexpr std::array<int, 4> kBeads{64, 8, 16, 32};

std::vector<MeanError> means_of(double (*value)(double), double error) {
  std::vector<MeanError> means;
  for (const int beads : kBeads) means.push_back({value(beads), error});
  return means;
}

TEST(BeadLimits, TermsAreExact) {
  const auto expect_limit = [](double (*value)(double), double c2, unsigned degrees_of_freedom) {
    const BeadLimit fit = bead_limit(kBeads, means_of(value, 1e-6));
    EXPECT_NEAR(fit.limit.mean, 3.0, 1e-12);
    EXPECT_NEAR(fit.c1, -5.0, 1e-8);
    EXPECT_NEAR(fit.c2, c2, 1e-5);
    EXPECT_EQ(fit.degrees_of_freedom, degrees_of_freedom);
    EXPECT_EQ(fit.points, 4u);
    EXPECT_NEAR(fit.at(16.0), value(16.0), 1e-12);
  };
  expect_limit([](double p) { return 3.0 - 5.0 / (p * p); }, 0.0, 2);
  expect_limit([](double p) { return 3.0 - 5.0 / (p * p) + 700.0 / (p * p * p * p); }, 700.0, 1);
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
/// of its ring; its limit is (x/4) coth(x/2) with x = 15.
constexpr double kOscillatorX = 15.0;
const double kOscillatorLimit = 0.25 * kOscillatorX / std::tanh(0.5 * kOscillatorX);
double oscillator(double p) {
  double sum = 0.0;
  for (int k = 0; k < static_cast<int>(p); ++k) {
    const double s = 2.0 * p * std::sin(k * M_PI / p);
    sum += 0.5 * kOscillatorX * kOscillatorX / (kOscillatorX * kOscillatorX + s * s);
  }
  return sum;
}

/// With small errors, few beads are left out: with them the terms do not suffice.
TEST(BeadLimits, LeavesOutTooFewBeads) {
  const BeadLimit precise = bead_limit(kBeads, means_of(oscillator, 1e-4));
  EXPECT_EQ(precise.points, 3u);
  EXPECT_EQ(precise.degrees_of_freedom, 0u);
  EXPECT_NEAR(precise.limit.mean, kOscillatorLimit, 2e-3 * kOscillatorLimit);
  // Much closer than the largest number of beads alone.
  EXPECT_LT(std::abs(precise.limit.mean - kOscillatorLimit),
            0.1 * (kOscillatorLimit - oscillator(64)));
  // Large errors allow all beads.
  EXPECT_EQ(bead_limit(kBeads, means_of(oscillator, 1.0)).points, 4u);
}

/// Errors that grow with P, as those of the primitive estimator do, let the fewest beads dominate
/// the fit. Exact means show by how much the terms that it lacks move the limit.
TEST(BeadLimits, FewBeadsWithSmallErrorsDoNotBendTheLimit) {
  const std::array<int, 6> beads{16, 24, 32, 60, 96, 198};
  int checked = 0;
  for (double size = 1e-5; size < 1.0; size *= 1.3) {
    std::vector<MeanError> means;
    for (const int p : beads) means.push_back({oscillator(p), size * p / 16.0});
    const BeadLimit fit = bead_limit(beads, means);
    if (fit.points == 3) continue;  // nothing is left to leave out
    ++checked;
    EXPECT_LT(std::abs(fit.limit.mean - kOscillatorLimit), 3.0 * fit.limit.error) << size;
  }
  EXPECT_GT(checked, 10);
}

TEST(BeadLimits, UnknownMeansAndErrors) {
  const double none = std::nan("");
  const auto limit = [](const std::array<MeanError, 3>& means) {
    return bead_limit(std::array{8, 16, 32}, means);
  };
  const BeadLimit two = limit({{{none, none}, {1.0, 0.1}, {2.0, 0.1}}});
  EXPECT_EQ(two.points, 2u);
  EXPECT_NEAR(two.limit.mean, 7.0 / 3.0, 1e-14);
  const BeadLimit without_errors = limit({{{0.0, 0.1}, {1.0, 0.0}, {2.0, 0.1}}});
  EXPECT_EQ(without_errors.limit.error, 0.0);
  EXPECT_EQ(without_errors.points, 3u);
  const BeadLimit one = limit({{{none, none}, {1.0, 0.1}, {none, none}}});
  EXPECT_TRUE(std::isnan(one.limit.mean));
  EXPECT_EQ(one.points, 0u);
}

// --- lines ---

TEST(FitLine, RecoversALine) {
  // y = 3 - 2 x + e with e = (1, -1, -1, 1), orthogonal to 1 and to x: the fit is the line.
  const std::vector<double> x{0.0, 1.0, 2.0, 3.0}, y{4.0, 0.0, -2.0, -2.0};
  const LineFit fit = fit_line(x, y);
  EXPECT_DOUBLE_EQ(fit.slope, -2.0);
  EXPECT_DOUBLE_EQ(fit.intercept, 3.0);
  // Mean 0, squares 16 + 0 + 4 + 4.
  EXPECT_DOUBLE_EQ(fit.rms_about_mean, std::sqrt(6.0));
}

TEST(FitLine, HasNoSlopeWhereXDoesNotVary) {
  EXPECT_EQ(fit_line(std::vector{2.0, 2.0}, std::vector{1.0, 5.0}).slope, 0.0);
  EXPECT_EQ(fit_line(std::vector<double>{}, std::vector<double>{}).intercept, 0.0);
}

}  // namespace
}  // namespace tarn::analysis
