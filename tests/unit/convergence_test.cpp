#include "tarn/analysis/convergence.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "rounding.hpp"

namespace tarn::analysis {
namespace {

const std::vector<double> kSteps{0.4, 0.2, 0.1, 0.05, 0.025};
const std::vector<double> kExact(5, 0.0);

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
    const OrderFit fit = fit_order(kSteps, of_power, kExact);
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
  const OrderFit fit = fit_order(kSteps, e, kExact);
  EXPECT_EQ(fit.points, 4u);
  EXPECT_EQ(fit.largest_step, 0.2);
  EXPECT_NEAR(fit.spread, std::log2((1.6 / 1.3) / (1.15 / 1.075)), kOfLogarithms);
  EXPECT_GT(fit.order, 2.10);
  EXPECT_LT(fit.order, 2.30);
  // In any order, and with unknown errors.
  const std::array<double, 6> steps{0.05, 0.8, 0.2, 0.025, 0.4, 0.1};
  const std::array<double, 6> mixed{e[3], std::nan(""), e[1], e[4], e[0], e[2]};
  EXPECT_EQ(fit_order(steps, mixed, std::array<double, 6>{}).order, fit.order);
}

TEST(OrderFit, OmitsErrorsNearTheReference) {
  std::vector<double> e = errors([](double h) { return h * h; });
  e[4] = 1e-3;  // 0.000625 plus the error of the reference
  const OrderFit fit = fit_order(kSteps, e, std::vector<double>(5, 2e-4));
  EXPECT_EQ(fit.points, 4u);
  EXPECT_EQ(fit.smallest_step, 0.05);
  EXPECT_NEAR(fit.order, 2.0, kOfLogarithms);
  // An unknown error of the reference does not count as small.
  EXPECT_EQ(fit_order(kSteps, e, std::vector<double>(5, std::nan(""))).points, 0u);
}

TEST(OrderFit, ReportsAFitOfTwoPoints) {
  // Order 2, and at the smallest steps order 1.
  const OrderFit fit =
      fit_order(kSteps, errors([](double h) { return h > 0.04 ? h * h : 0.05 * h; }), kExact);
  EXPECT_EQ(fit.points, 2u);
  EXPECT_NEAR(fit.order, 1.0, kOfLogarithms);
  EXPECT_TRUE(std::isnan(fit.spread));
}

TEST(OrderFit, ThereIsNoneWhereTheErrorLevelsOff) {
  const OrderFit fit = fit_order(kSteps, errors([](double h) { return h * h + 0.01; }), kExact);
  EXPECT_TRUE(std::isnan(fit.order));
  EXPECT_EQ(fit.points, 0u);
  EXPECT_TRUE(std::isnan(fit_order(std::array{0.1}, std::array{0.1}, std::array{0.0}).order));
  EXPECT_TRUE(std::isnan(fit_order(kSteps, kExact, kExact).order));  // without any error
}

}  // namespace
}  // namespace tarn::analysis
