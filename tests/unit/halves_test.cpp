#include "analysis/blocking.hpp"
#include "testing.hpp"

namespace tarn::analysis {
namespace {

using Ids = std::vector<std::int64_t>;
using Values = std::vector<double>;

TEST(Halves, ARampRisesByHalfOfItself) {
  // 1000 times: blocks of 16, 62 of them whole, 992 times; means of 0 ... 495 and 496 ... 991.
  Halves halves = Halves::of_replicas(1);
  Values rises;
  for (int t = 0; t < 1000; ++t) {
    const double value = t;
    halves.add_replicas(Ids{0}, Values{value});
    rises.push_back(halves.shift(1.0).mean);
  }
  EXPECT_EQ(rises[6], 0.0) << "fewer than eight blocks";
  EXPECT_EQ(rises[7], 4.0);
  EXPECT_EQ(rises[8], 5.0) << "of nine the middle one is in neither";
  EXPECT_DOUBLE_EQ(halves.shift(31.0).mean, 496.0);
  EXPECT_DOUBLE_EQ(halves.shift(31.0).sigmas, 8.0) << "twice the error of the mean of all";
  EXPECT_EQ(halves.shift(0.0).sigmas, 0.0);
}

TEST(Halves, SpreadOfSeriesGivesTheError) {
  // Four replicas that rise by 1, 2, 3 and 6: 3 +- sqrt(14 / 12), t of 3 degrees of freedom.
  Halves halves = Halves::of_replicas(4);
  for (int t = 0; t < 64; ++t) {
    const double late = t < 32 ? 0.0 : 1.0;
    halves.add_replicas(Ids{0, 1, 2, 3}, Values{late, 10.0 + 2.0 * late, 3.0 * late, 6.0 * late});
  }
  const Halves::Shift rise = halves.shift(1e-9);
  EXPECT_DOUBLE_EQ(rise.mean, 3.0);
  const double one_sided = 0.5 * std::erfc(rise.sigmas / std::sqrt(2.0));
  // F(t) of 3 degrees: 1/2 + (x/(1 + x^2) + atan x)/pi with x = t/sqrt 3.
  const double x = 3.0 / std::sqrt(14.0 / 12.0) / std::sqrt(3.0);
  const double exact = 0.5 - (x / (1.0 + x * x) + std::atan(x)) / M_PI;
  // Wallace's is right to 0.02 of a standard deviation from 3 degrees on.
  const double density = std::exp(-0.5 * rise.sigmas * rise.sigmas) / std::sqrt(2.0 * M_PI);
  EXPECT_NEAR(one_sided, exact, 0.02 * density);
}

TEST(Halves, ReplicasThatStoppedAreLeftOut) {
  Halves halves = Halves::of_replicas(5);
  for (int t = 0; t < 64; ++t) {
    const double late = t < 32 ? 0.0 : 1.0;
    Ids ids{0, 1, 2, 3};
    Values values{late, late, late + 0.1 * late, late};
    if (t < 20) {
      ids.push_back(4);
      values.push_back(-1e6);
    }
    halves.add_replicas(ids, values);
  }
  EXPECT_NEAR(halves.shift(0.0).mean, 1.025, test::few_roundings(10.0));
}

/// Adds correlated numbers in equilibrium, and what start() adds to them.
void add_in_equilibrium(
    int series, int times, double phi, std::mt19937_64& random, Halves& halves,
    const std::function<double(int t)>& start = [](int) { return 0.0; }) {
  std::normal_distribution<double> normal;
  Values x(static_cast<std::size_t>(series)), seen(x.size());
  Ids ids(x.size());
  std::iota(ids.begin(), ids.end(), 0);
  for (double& v : x) v = normal(random);
  for (int t = 0; t < times; ++t) {
    for (std::size_t s = 0; s < x.size(); ++s) {
      x[s] = phi * x[s] + std::sqrt(1.0 - phi * phi) * normal(random);
      seen[s] = x[s] + start(t);
    }
    halves.add_replicas(ids, seen);
  }
}

/// Series in equilibrium differ as often as normal numbers do, correlated or not.
TEST(Halves, AreAlikeInEquilibrium) {
  constexpr int kRuns = 2000;
  double squares = 0.0, beyond_two = 0.0;
  std::mt19937_64 random(5);
  for (int run = 0; run < kRuns; ++run) {
    Halves halves = Halves::of_replicas(8);
    add_in_equilibrium(8, 200, 0.9, random, halves);
    const double sigmas = halves.shift(0.0).sigmas;
    squares += sigmas * sigmas / kRuns;
    beyond_two += (std::abs(sigmas) > 2.0 ? 1.0 : 0.0) / kRuns;
  }
  // The square of a normal number has mean 1 and variance 2. That the half means of one series are
  // correlated does not matter: the spread of the series has it.
  EXPECT_NEAR(squares, 1.0, 4.5 * std::sqrt(2.0 / kRuns) + 0.01);
  // Of normal numbers 4.55 % are beyond 2; of t with seven degrees of freedom 8.6 %.
  constexpr double kBeyondTwo = 0.0455;
  EXPECT_NEAR(beyond_two, kBeyondTwo, 4.5 * std::sqrt(kBeyondTwo * (1.0 - kBeyondTwo) / kRuns));
}

/// The beginning of series in equilibrium is called apart no more often than normal numbers are.
/// The error of the second half is the largest of several levels, which makes it larger than it
/// must be, by 1.23 at most as measured: no more than by 1.3.
TEST(Halves, BeginLikeTheyGoOnInEquilibrium) {
  constexpr int kRuns = 2000;
  constexpr double kBeyondTwo = 0.0455, kNoise = 4.5 * 0.00466;  // binomial, of 2000
  for (const int series : {1, 4, 16}) {
    std::mt19937_64 random(6);
    double squares = 0.0, beyond_two = 0.0, beyond_four = 0.0;
    for (int run = 0; run < kRuns; ++run) {
      Halves halves = Halves::of_replicas(series);
      add_in_equilibrium(series, 640, 0.5, random, halves);
      const double sigmas = std::abs(halves.shift_from_start().sigmas);
      squares += sigmas * sigmas / kRuns;
      beyond_two += (sigmas > 2.0 ? 1.0 : 0.0) / kRuns;
      beyond_four += sigmas > 4.0 ? 1.0 : 0.0;
    }
    RecordProperty("squares_" + std::to_string(series), std::to_string(squares));
    EXPECT_GT(squares, 1.0 / (1.3 * 1.3) - 4.5 * std::sqrt(2.0 / kRuns)) << series;
    EXPECT_LT(beyond_two, kBeyondTwo + kNoise) << series;
    EXPECT_GT(beyond_two, 0.5 * kBeyondTwo - kNoise) << series;
    EXPECT_LE(beyond_four, 2.0) << series;  // 0.13 of normal numbers
  }
}

/// A start that is off for a twentieth of the run, by five standard deviations of four series or
/// twenty of one, whose second half tells its error from fewer blocks.
TEST(Halves, DetectADecayingTransient) {
  for (const auto& [series, off] : {std::pair{1, 20.0}, {4, 5.0}}) {
    std::mt19937_64 random(7);
    for (int run = 0; run < 20; ++run) {
      Halves halves = Halves::of_replicas(series);
      const auto start = [size = off](int t) { return -size * std::exp(-t / 32.0); };
      add_in_equilibrium(series, 640, 0.5, random, halves, start);
      EXPECT_GT(halves.shift_from_start().sigmas, 3.8) << series;
      // The mean of the start over 80 times.
      EXPECT_NEAR(halves.shift_from_start().mean, off * 0.4 * (1.0 - std::exp(-2.5)), 1.0);
    }
  }
  EXPECT_EQ(Halves::of_replicas(4).shift_from_start().sigmas, 0.0);
}

TEST(Halves, GoOnFromTheirMemory) {
  const auto see = [](Halves& halves, int begin, int end) {
    for (int t = begin; t < end; ++t) {
      halves.add_replicas(Ids{0, 1, 2, 3, 4},
                          Values{std::sin(t), std::cos(t), std::sin(2.0 * t), 1.0 * t, 0.5});
    }
  };
  Halves straight = Halves::of_replicas(5);
  see(straight, 0, 300);
  for (const int stop : {0, 7, 64, 130, 300}) {
    Halves first = Halves::of_replicas(5), second = Halves::of_replicas(5);
    see(first, 0, stop);
    second.restore(first.memory());
    see(second, stop, 300);
    EXPECT_EQ(second.memory(), straight.memory()) << stop;
    EXPECT_EQ(second.shift(1.0).sigmas, straight.shift(1.0).sigmas);
  }
}

}  // namespace
}  // namespace tarn::analysis
