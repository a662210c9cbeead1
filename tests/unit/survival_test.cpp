#include "analysis/survival.hpp"

#include "testing.hpp"

namespace tarn::analysis {
namespace {

TEST(Rates, AreEventsOverTime) {
  const Rate some = rate_of({16, 2.0});
  EXPECT_EQ(some.value, 8.0);
  EXPECT_EQ(some.error, 2.0);
  const Rate none = rate_of({0, 2.0});
  EXPECT_EQ(none.value, 0.0);
  EXPECT_EQ(none.error, 0.5) << "that of one event";
  EXPECT_TRUE(std::isnan(rate_of({0, 0.0}).value));
  EXPECT_TRUE(std::isnan(rate_of({0, 0.0}).error));
}

TEST(Arrhenius, PassesThroughTwoTemperatures) {
  const std::array beta{1.0, 1.5};
  const std::array<Exposure, 2> exposures{{{40, 2.0}, {9, 3.0}}};
  const auto fit = fit_arrhenius(beta, exposures);
  ASSERT_TRUE(fit);
  // Rates 20 and 3; ln k has errors of 1/sqrt(n).
  EXPECT_NEAR(fit->activation, std::log(20.0 / 3.0) / 0.5, 1e-12);
  EXPECT_NEAR(fit->activation_error, std::sqrt(1.0 / 40.0 + 1.0 / 9.0) / 0.5, 1e-12);
  EXPECT_NEAR(fit->rate(1.0), 20.0, 1e-11);
  EXPECT_NEAR(fit->rate(1.5), 3.0, 1e-11);
  EXPECT_NEAR(fit->deviance, 0.0, 1e-12);
  EXPECT_EQ(fit->degrees, 0);
}

TEST(Arrhenius, NeedsEventsAtTwoTemperatures) {
  const std::array beta{1.0, 1.5, 1.0};
  EXPECT_FALSE(fit_arrhenius(beta, std::array<Exposure, 3>{{{4, 2.0}, {0, 3.0}, {2, 1.0}}}));
  EXPECT_FALSE(fit_arrhenius(beta, std::array<Exposure, 3>{{{0, 2.0}, {0, 0.0}, {0, 1.0}}}));
  EXPECT_TRUE(fit_arrhenius(beta, std::array<Exposure, 3>{{{0, 2.0}, {1, 3.0}, {2, 1.0}}}));
}

/// At the maximum of the likelihood the events are as many as expected, and so is their mean beta.
TEST(Arrhenius, BalancesExpectedCounts) {
  const std::array beta{1.0, 1.2, 1.4, 1.6, 1.8, 2.4};
  const std::array<Exposure, 6> exposures{
      {{310, 2.0}, {190, 3.0}, {33, 1.0}, {21, 2.0}, {3, 1.0}, {0, 20.0}}};
  const auto fit = fit_arrhenius(beta, exposures);
  ASSERT_TRUE(fit);
  double more = 0.0, moment = 0.0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double difference =
        static_cast<double>(exposures[i].events) - exposures[i].time * fit->rate(beta[i]);
    more += difference;
    moment += difference * beta[i];
  }
  EXPECT_NEAR(more, 0.0, 1e-9 * 557.0);
  EXPECT_NEAR(moment, 0.0, 1e-9 * 557.0);
  EXPECT_EQ(fit->degrees, 4);
  // A temperature without exposure has no effect.
  const std::array more_beta{1.0, 1.2, 1.4, 1.6, 1.8, 2.4, 9.0};
  std::array<Exposure, 7> with_none{};
  std::copy(exposures.begin(), exposures.end(), with_none.begin());
  const auto same = fit_arrhenius(more_beta, with_none);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->activation, fit->activation);
  EXPECT_EQ(same->degrees, fit->degrees);
}

/// Poisson numbers of a line that is known: its slope comes out with the error that is told, and
/// the deviance is chi-squared.
TEST(Arrhenius, ScatterMatchesTheReportedError) {
  constexpr int kTrials = 2000;
  constexpr double kSlope = 3.0, kSigmas = 4.5;
  const std::array beta{1.0, 1.2, 1.4, 1.6, 1.8};
  std::mt19937_64 random(20261126);
  double sum = 0.0, squares = 0.0, deviance = 0.0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::array<Exposure, 5> exposures{};
    for (std::size_t i = 0; i < beta.size(); ++i) {
      const double expected = 8000.0 * std::exp(-kSlope * beta[i]);
      exposures[i] = {std::poisson_distribution<std::int64_t>(expected)(random), 1.0};
    }
    const auto fit = fit_arrhenius(beta, exposures);
    ASSERT_TRUE(fit);
    const double off = (fit->activation - kSlope) / fit->activation_error;
    sum += off;
    squares += off * off;
    deviance += fit->deviance;
  }
  // A normal number and its square; chi-squared of three degrees has a variance of six. To first
  // order in 1/sqrt(n) the slope of n = 1016 events is a normal number; what is left moves its mean
  // by 1/sqrt(n) of the error at most, and the squares by 1/n times some ten.
  constexpr double kSkew = 0.031, kNext = 0.01;
  EXPECT_NEAR(sum / kTrials, 0.0, kSigmas / std::sqrt(1.0 * kTrials) + kSkew);
  EXPECT_NEAR(squares / kTrials, 1.0, kSigmas * std::sqrt(2.0 / kTrials) + kNext);
  EXPECT_NEAR(deviance / kTrials, 3.0, kSigmas * std::sqrt(6.0 / kTrials) + 3.0 * kNext);
}

TEST(Survival, OfAllIsTheShareThatIsLeft) {
  SurvivalCurve curve;
  curve.begin(0, 100);
  std::int64_t left = 100, step = 0;
  for (const std::int64_t events : {3, 0, 10, 1, 86}) {
    curve.observe(step += 10, left, events);
    left -= events;
    EXPECT_EQ(curve.left(), left);
  }
  ASSERT_EQ(curve.points().size(), 4u) << "looks without events are no points";
  left = 100;
  for (const SurvivalCurve::Point& point : curve.points()) {
    EXPECT_EQ(point.at_risk, left);
    left -= point.events;
    const double share = static_cast<double>(left) / 100.0;
    EXPECT_NEAR(point.survival, share, 1e-15);
    // Greenwood's error equals the binomial one without censoring.
    EXPECT_NEAR(point.error, std::sqrt(share * (1.0 - share) / 100.0), 1e-15);
  }
  EXPECT_EQ(curve.points().back().survival, 0.0);
  EXPECT_EQ(curve.points().back().error, 0.0);
}

TEST(Survival, CensorsLostReplicas) {
  SurvivalCurve curve;
  curve.begin(0, 10);
  curve.observe(10, 10, 2);
  curve.observe(20, 8, 0);
  curve.observe(30, 5, 1);
  ASSERT_EQ(curve.points().size(), 3u);
  EXPECT_EQ(curve.points()[1].step, 20) << "until then the three were there";
  EXPECT_EQ(curve.points()[1].survival, 0.8);
  EXPECT_NEAR(curve.points()[2].survival, 0.8 * 0.8, 1e-15);
  EXPECT_NEAR(curve.points()[2].error, 0.64 * std::sqrt(2.0 / (10 * 8) + 1.0 / (5 * 4)), 1e-15);
  EXPECT_EQ(curve.exposure(0, 30, 10).time, 100.0 + 80.0 + 50.0 - 3 * 5.0);
}

/// Against the times of each by itself; some go out of sight. Also after a restart.
TEST(Survival, ExposureIsTheTimeOfAll) {
  constexpr std::int64_t kStart = 40, kEvery = 5, kEnd = 400;
  struct One {
    std::int64_t look;       // at which it is seen that it was befallen; behind the end: not
    std::int64_t last_seen;  // look
  };
  std::mt19937_64 random(3);
  std::uniform_int_distribution<std::int64_t> some_look(1, 120);
  std::vector<One> all;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t look = kStart + kEvery * some_look(random);
    all.push_back({look, i % 5 == 0 ? kStart + kEvery * some_look(random) : kEnd});
  }
  SurvivalCurve curve;
  curve.begin(kStart, 50);
  for (std::int64_t step = kStart + kEvery; step <= kEnd; step += kEvery) {
    const auto at_risk = std::count_if(all.begin(), all.end(), [&](const One& one) {
      return one.look >= step && one.last_seen >= step;
    });
    const auto events = std::count_if(all.begin(), all.end(), [&](const One& one) {
      return one.look == step && one.last_seen >= step;
    });
    curve.observe(step, at_risk, events);
    SurvivalCurve restored;
    restored.restore(curve.memory());
    ASSERT_EQ(restored.memory(), curve.memory());
    curve = restored;
  }
  for (const std::int64_t begin : {kStart, std::int64_t{200}, std::int64_t{390}}) {
    for (const std::int64_t end : {std::int64_t{200}, std::int64_t{390}, kEnd}) {
      if (begin > end) continue;
      double time = 0.0;
      std::int64_t events = 0;
      for (const One& one : all) {
        const std::int64_t until = std::min({one.look, one.last_seen, end});
        const bool here = begin < one.look && one.look <= std::min(end, one.last_seen);
        events += here;
        time += static_cast<double>(std::max<std::int64_t>(0, until - begin));
        if (here) time -= 0.5 * kEvery;
      }
      const Exposure exposure = curve.exposure(begin, end, kEvery);
      EXPECT_EQ(exposure.events, events) << begin << " to " << end;
      EXPECT_EQ(exposure.time, time) << begin << " to " << end;
    }
  }
  SurvivalCurve other;
  EXPECT_THROW(other.restore(std::vector<std::int64_t>{1, 2, 3, 4}), LayoutError);
}

}  // namespace
}  // namespace tarn::analysis
