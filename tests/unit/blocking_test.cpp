#include "analysis/blocking.hpp"

#include "tarn/analysis/errors.hpp"
#include "testing.hpp"

namespace tarn::analysis {
namespace {

/// x_t = phi x_{t-1} + noise, stationary, with variance 1.
std::vector<double> ar1(double phi, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  double value = normal(random);
  for (double& v : x) v = value = phi * value + std::sqrt(1.0 - phi * phi) * normal(random);
  return x;
}

/// Standard error of the mean of n values of ar1(phi): (1/n) sum over lags of (1 - |t|/n) phi^|t|.
double exact_error(double phi, std::size_t n) {
  const auto m = static_cast<double>(n);
  const double sum = (1.0 + phi) / (1.0 - phi) -
                     2.0 * phi * (1.0 - std::pow(phi, m)) / (m * (1.0 - phi) * (1.0 - phi));
  return std::sqrt(sum / m);
}

/// Of the square of the error of white noise, relative to it: what the larger of two estimates from
/// so many blocks is above the truth in the mean, the blocks of the second being made of those of
/// the first. E|v - u| / 2, with v - u of a variance of 2/(fewer - 1) - 2/(blocks - 1).
double rise(double blocks, double fewer) {
  return std::sqrt((2.0 / (fewer - 1.0) - 2.0 / (blocks - 1.0)) / (2.0 * M_PI));
}

/// phi of an autocorrelation time.
double phi_of(double tau) { return (2.0 * tau - 1.0) / (2.0 * tau + 1.0); }

double squared_sigmas(const Blocking& b) { return b.mean * b.mean / (b.error * b.error); }

std::vector<std::vector<double>> ar1_series(int series, double phi, std::size_t n,
                                            std::uint64_t seed) {
  std::vector<std::vector<double>> all;
  for (int s = 0; s < series; ++s) all.push_back(ar1(phi, n, seed++));
  return all;
}

void add_series(PooledBlocking& pooled, std::size_t slot, const std::vector<double>& series) {
  for (const double x : series) pooled.add(slot, x);
}

PooledBlocking pooled_ar1(std::size_t series, double phi, std::size_t n, std::uint64_t seed) {
  PooledBlocking pooled(series);
  for (std::size_t s = 0; s < series; ++s) add_series(pooled, s, ar1(phi, n, seed + s));
  return pooled;
}

/// Calls add(ids, values) with the values of all series at each time.
template <class Add>
void for_times(const std::vector<std::vector<double>>& series, const Add& add) {
  std::vector<std::int64_t> ids(series.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<double> now(series.size());
  for (std::size_t t = 0; t < series.front().size(); ++t) {
    for (std::size_t s = 0; s < series.size(); ++s) now[s] = series[s][t];
    add(ids, now);
  }
}

/// @param exact error of the mean
/// @param most_bias, most_error_of_error relative to it
void expect_ar1(const Blocking& b, double phi, double exact, double most_bias,
                double most_error_of_error) {
  EXPECT_TRUE(b.converged);
  // A block of length B misses correlation across its ends: the variance is too low by
  // 2 phi / (B (1 - phi^2)) of itself, the error by half of that.
  const double bias = phi / (static_cast<double>(b.block_length) * (1.0 - phi * phi)) * exact;
  EXPECT_LT(bias, most_bias * exact);
  EXPECT_LT(b.error_of_error, most_error_of_error * exact);
  EXPECT_NEAR(b.error, exact - bias, 4.5 * b.error_of_error);
  // tau = (error / naive error)^2 / 2, so that its relative error is twice that of the error.
  const double tau = 0.5 * (1.0 + phi) / (1.0 - phi);
  EXPECT_NEAR(b.autocorrelation_time, tau * (1.0 - 2.0 * bias / exact),
              4.5 * 2.0 * tau * b.error_of_error / exact);
}

TEST(Blocking, ErrorAndAutocorrelationTimeOfAr1) {
  const std::size_t n = 1 << 17;
  for (const double phi : {0.0, 0.5, 0.9, 0.97}) {
    SCOPED_TRACE(phi);
    expect_ar1(blocking(ar1(phi, n, 11)), phi, exact_error(phi, n), 0.05, 0.1);
  }
}

TEST(Blocking, ErrorsCoverTheTruth) {
  // Over many series, mean / error must have variance 1.
  const int series = 600;
  double sum = 0.0, noise = 0.0;
  for (std::uint64_t s = 0; s < series; ++s) {
    const Blocking b = blocking(ar1(0.8, 1 << 13, 1000 + s));
    sum += squared_sigmas(b) / series;
    noise += 2.0 * b.error_of_error / b.error / series;
  }
  // The mean of squares of normal numbers has variance 2 / series. Errors that are themselves
  // uncertain by e make it larger by 3 e^2, and their bias is a few per cent: allow 0.1.
  EXPECT_NEAR(sum, 1.0, 4.5 * std::sqrt(2.0 / series) + 0.1 + 3.0 * noise * noise);
  EXPECT_GT(sum, 0.7);
}

TEST(Blocking, ErrorsOfManySeriesCoverTheTruthForAnyLength) {
  // 40 correlation times and more each: the error is that of the whole series. Blocks of 256 of 501
  // values alone would make it 1.4 times as large, and the mean of squares half.
  constexpr int kTrials = 1000;
  for (const std::size_t n : {501u, 512u, 600u}) {
    int converged = 0;
    double sum = 0.0;
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
      const Blocking b = pooled_ar1(16, phi_of(5.0), n, 16 * trial).result();
      converged += b.converged;
      sum += squared_sigmas(b) / kTrials;
    }
    // The spread of sixteen series exceeds the error from blocks by half once in 250 runs.
    EXPECT_GT(converged, 0.98 * kTrials) << n;
    // Between a normal number squared and t squared of 15 degrees of freedom, whose variance
    // is 2.55 times the square of its mean 15/13; the largest of several levels makes errors some 5
    // % larger.
    const double noise = 4.5 * 15.0 / 13.0 * std::sqrt(2.55 / kTrials);
    EXPECT_GT(sum, 1.0 / (1.05 * 1.05) - noise) << n;
    EXPECT_LT(sum, 15.0 / 13.0 + noise) << n;
  }
}

/// Series that stop early do not make up for those that go on: of sixteen, fifteen of which have a
/// fortieth of the time, the spread is that of one, and no error is known. Nor do slots without any
/// series, as of replicas that were stopped before averages began.
TEST(Blocking, ShortSeriesCountByTheirLength) {
  const double phi = phi_of(50.0);
  constexpr int kTrials = 300;
  double square = 0.0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    PooledBlocking pooled(16);
    for (std::size_t s = 0; s < 16; ++s) {
      add_series(pooled, s, ar1(phi, s == 0 ? 2000 : 50, 16 * trial + s));
    }
    const Blocking b = pooled.result();
    EXPECT_FALSE(b.converged);
    square += squared_sigmas(b) / kTrials;
  }
  // By lower bounds of one series of twenty correlation times it is 1.5.
  EXPECT_LT(square, 3.0);
  PooledBlocking of_many(32);
  add_series(of_many, 7, ar1(phi, 1000, 3));
  EXPECT_EQ(of_many.result().error, pooled_ar1(1, phi, 1000, 3).result().error);
  // Three values of one slot and one of another: never below the error of independent values.
  PooledBlocking uneven(4);
  add_series(uneven, 0, {1.0, 2.0, 4.0});
  uneven.add(1, 2.5);
  const std::vector<double> values{1.0, 2.0, 4.0, 2.5};
  EXPECT_GE(uneven.result().error, mean_and_error(values).error * (1.0 - 1e-12));
  EXPECT_GE(uneven.result().autocorrelation_time, 0.5);
}

TEST(Blocking, AFallByChanceEndsNothing) {
  // Each series is ten correlation times long, in the sense of two independent values a time. A
  // level that could end the search has a dozen blocks or fewer, and would have to come out low by
  // a factor of two; the largest of all levels so far does not.
  int converged = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    converged += pooled_ar1(4, phi_of(50.0), 1001, 4 * trial).result().converged;
  }
  EXPECT_LE(converged, 9) << "3 % are called converged";
}

/// 401 values: the first level with B^3 > 802 has blocks of 16, 25 of them. The square of the error
/// is the largest of five estimates of the truth, 1/n. Let u, with a variance of 2/400, be that of
/// the values, v, of 2/24, that of the blocks, and u the better half of v: it is at least
/// E max(u, v) = 1 + E|v - u| / 2 = 1 + sqrt((2/24 - 2/400) / (2 pi)), and at most 1 and the sum of
/// the same over each level and the next, as if every rise lasted. That v is a chi-square and not
/// normal changes E|v - u| by less than 2 %, and by 10 % with 6 blocks: 48 values are as many as a
/// run has blocks of time, and a level that came out low by accident must not be preferred.
TEST(Blocking, WhiteNoiseIsRight) {
  const int series = 4000;
  for (const auto& [blocks, not_normal] :
       {std::pair(std::vector{401.0, 200.0, 100.0, 50.0, 25.0}, 0.02),
        {std::vector{48.0, 24.0, 12.0, 6.0}, 0.1}}) {
    const double n = blocks.front(), last = blocks.back();
    SCOPED_TRACE(n);
    double sum = 0.0, samples = 0.0, most = 0.0;
    for (std::uint64_t s = 0; s < series; ++s) {
      const Blocking b = blocking(ar1(0.0, static_cast<std::size_t>(n), 20'000 + s));
      EXPECT_EQ(b.converged, last >= 8.0) << "eight blocks are asked for";
      if (b.converged) {
        EXPECT_EQ(b.block_length, 16u);
      }
      sum += n * b.error * b.error / series;
      samples = std::max(samples, n / (2.0 * b.autocorrelation_time));
    }
    for (std::size_t k = 1; k < blocks.size(); ++k) most += rise(blocks[k - 1], blocks[k]);
    // One square varies by less than that of the blocks.
    const double noise = 4.5 * std::sqrt(2.0 / (last - 1.0) / series);
    EXPECT_GT(sum, 1.0 + (1.0 - not_normal) * rise(n, last) - noise);
    EXPECT_LT(sum, 1.0 + (1.0 + not_normal) * most + noise);
    EXPECT_EQ(samples, n) << "no series has more independent samples than values";
  }
}

TEST(Blocking, IsNeverBelowTheErrorOfIndependentValues) {
  for (const double phi : {-0.5, 0.0, 0.5}) {
    for (const std::size_t n : {2, 3, 5, 33, 34, 100, 401}) {
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::vector<double> series = ar1(phi, n, seed);
        const Blocking b = blocking(series);
        EXPECT_GE(b.error, mean_and_error(series).error * (1.0 - 1e-12)) << n << ' ' << seed;
        EXPECT_GE(b.autocorrelation_time, 0.5);
      }
    }
  }
}

TEST(Blocking, ValueThatIsInNoBlockIsInTheError) {
  // All blocks of two and more are the same: their spread is 0, that of the values is not.
  for (const std::size_t n : {33, 34, 1001}) {
    std::vector<double> series(n, 8.0);
    series.back() = 9.0;
    if (n % 2 == 0) series[n - 2] = 7.0;
    const Blocking b = blocking(series);
    EXPECT_NEAR(b.error, mean_and_error(series).error, test::few_roundings()) << n;
    EXPECT_EQ(b.autocorrelation_time, 0.5) << n;
  }
  // A replica that stopped early, and the others constant but for their last values.
  PooledBlocking pooled = PooledBlocking::of_replicas(4);
  for (int t = 0; t < 65; ++t) {
    const double value = t == 64 ? 3.0 : 2.0;
    if (t < 10) pooled.add_replicas(std::vector<std::int64_t>{3}, std::vector<double>{value});
    pooled.add_replicas(std::vector<std::int64_t>{0, 1, 2}, std::vector<double>(3, value));
  }
  EXPECT_EQ(pooled.result().autocorrelation_time, 0.5);
}

TEST(Blocking, SmallSeriesInClosedForm) {
  EXPECT_EQ(blocking(std::vector<double>{}).error, 0.0);
  EXPECT_EQ(blocking(std::vector<double>{3.0}).mean, 3.0);
  EXPECT_EQ(blocking(std::vector<double>{3.0}).error, 0.0);
  const Blocking two = blocking(std::vector<double>{1.0, 3.0});
  EXPECT_DOUBLE_EQ(two.mean, 2.0);
  EXPECT_DOUBLE_EQ(two.error, 1.0);
  EXPECT_FALSE(two.converged);
  EXPECT_FALSE(blocking(ar1(0.999, 256, 5)).converged) << "too short";
  const Blocking constant = blocking(std::vector<double>(1000, 4.0));
  EXPECT_EQ(constant.mean, 4.0);
  EXPECT_EQ(constant.error, 0.0);
  EXPECT_EQ(constant.autocorrelation_time, 0.5);
}

// --- several series ---

TEST(PooledBlocking, OneSeriesIsBlockingByItsDefinition) {
  // Level by level, from the series and without sums that grow.
  const std::vector<double> series = ar1(0.9, 10'007, 3);
  std::vector<double> blocks = series;
  const Blocking b = blocking(series);
  double largest = mean_and_error(series).error;
  for (std::size_t length = 1; length < b.block_length; length *= 2) {
    std::vector<double> merged(blocks.size() / 2);
    for (std::size_t i = 0; i < merged.size(); ++i) {
      merged[i] = 0.5 * (blocks[2 * i] + blocks[2 * i + 1]);
    }
    blocks = merged;
    const double in_blocks = static_cast<double>(2 * length * blocks.size());
    largest = std::max(largest, mean_and_error(blocks).error * std::sqrt(in_blocks / 10'007.0));
  }
  EXPECT_TRUE(b.converged);
  EXPECT_GT(b.block_length, 16u);
  // An error of order one and a mean of 20, of sums of ten thousand values; the mean in pairs.
  EXPECT_NEAR(b.error, largest, test::rounding(10'007, 4));
  EXPECT_NEAR(b.mean, mean_and_error(series).mean, test::rounding(10'007, 1, 20.0));
}

/// Replicas side by side: 3 (a series each) and 70 (in 32 series of two or three).
TEST(PooledBlocking, ErrorAndAutocorrelationTimeOfReplicas) {
  const double phi = 0.9;
  for (const int replicas : {3, 70}) {
    SCOPED_TRACE(replicas);
    const std::size_t n = replicas == 3 ? 1 << 16 : 1 << 12;
    PooledBlocking pooled = PooledBlocking::of_replicas(replicas);
    for_times(ar1_series(replicas, phi, n, 100),
              [&](const auto& ids, const auto& values) { pooled.add_replicas(ids, values); });
    const Blocking b = pooled.result();
    const double exact = exact_error(phi, n) / std::sqrt(replicas);
    // With 70 replicas the error is that of 32 series: 1/sqrt(62).
    expect_ar1(b, phi, exact, 0.1, replicas == 3 ? 0.1 : 0.16);
    EXPECT_NEAR(b.mean, 0.0, 4.5 * exact);
    EXPECT_EQ(pooled.samples(), static_cast<double>(n) * replicas);
  }
}

/// Replicas that remain in different basins: for any length of the run there are only as many
/// independent values as replicas.
TEST(PooledBlocking, DifferencesThatLastAreInTheError) {
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  PooledBlocking pooled(32);
  std::vector<double> means(32), offsets(32);
  for (double& offset : offsets) offset = normal(random);
  for (std::size_t s = 0; s < 32; ++s) {
    for (int t = 0; t < 1024; ++t) {
      const double value = offsets[s] + 0.1 * normal(random);
      pooled.add(s, value);
      means[s] += value / 1024.0;
    }
  }
  const Blocking b = pooled.result();
  // 1024 is a power of two: the last blocks are whole series.
  EXPECT_EQ(b.block_length, 1024u);
  EXPECT_NEAR(b.error, mean_and_error(means).error, 1e-13);
  EXPECT_TRUE(b.converged) << "the spread of many series tells the error";
  // Independent samples: 32 * 1024 / (2 tau) = 32, up to the small noise.
  EXPECT_NEAR(32.0 * 1024.0 / (2.0 * b.autocorrelation_time), 32.0, 1.5);
}

TEST(PooledBlocking, SumsOfUnequalWeightAreARatio) {
  const std::vector<double> sums{5, 7, 16, 30, 2}, weights{2, 2, 5, 11, 1};
  PooledBlocking pooled(5);
  for (std::size_t s = 0; s < 5; ++s) pooled.add(s, sums[s], weights[s]);
  const MeanError ratio = ratio_and_error(sums, weights);
  const Blocking b = pooled.result();
  EXPECT_DOUBLE_EQ(b.mean, ratio.mean);
  EXPECT_NEAR(b.error, ratio.error, test::few_roundings());
  EXPECT_EQ(pooled.samples(), 21.0);
}

TEST(PooledBlocking, ReplicasThatStopLeaveTheirValues) {
  PooledBlocking pooled = PooledBlocking::of_replicas(3);
  const std::vector<std::int64_t> all{0, 1, 2}, left{0, 2};
  pooled.add_replicas(all, std::vector<double>{1.0, 2.0, 3.0});
  pooled.add_replicas(left, std::vector<double>{5.0, 9.0});
  pooled.add_replicas({}, {});
  EXPECT_DOUBLE_EQ(pooled.result().mean, 4.0);
  EXPECT_EQ(pooled.samples(), 5.0);
}

TEST(PooledBlocking, ContinuesBitwiseInBoundedMemory) {
  const std::vector<double> series = ar1(0.8, 100'000, 4);
  PooledBlocking whole(2), first(2), second(2);
  for (std::size_t t = 0; t < series.size(); ++t) whole.add(t % 2, series[t]);
  for (std::size_t t = 0; t < 33'333; ++t) first.add(t % 2, series[t]);
  const std::vector<double> memory = first.memory();
  for (const std::size_t less : {std::size_t{1}, std::size_t{2}, std::size_t{3}, memory.size()}) {
    EXPECT_THROW(second.restore(std::span(memory).first(memory.size() - less)), LayoutError);
  }
  second.restore(memory);
  for (std::size_t t = 33'333; t < series.size(); ++t) second.add(t % 2, series[t]);
  EXPECT_EQ(second.memory(), whole.memory());
  EXPECT_EQ(second.result().error, whole.result().error);
  // 17 levels of ten numbers.
  EXPECT_LE(whole.memory().size(), 171u);
  EXPECT_EQ(PooledBlocking(3).result().error, 0.0);
}

// --- variances ---

/// Adds the values of each series in turn.
PooledCovariance variance_of(const std::vector<std::vector<double>>& series) {
  PooledCovariance pooled = PooledCovariance::of_replicas(static_cast<int>(series.size()));
  for_times(series, [&](const auto& ids, const auto& now) { pooled.add_replicas(ids, now, now); });
  return pooled;
}

/// Sums relative to any pivot are the values, to rounding.
TEST(PooledBlocking, SumsOfSeriesAreTheirValues) {
  PooledBlocking values(2), sums(2);
  PooledCovariance pairs(2), pair_sums(2);
  std::mt19937 random(3);
  std::normal_distribution<double> normal(-60.0, 2.0);
  const std::vector<std::int64_t> ids{0, 1, 2, 3, 4};
  for (int t = 0; t < 64; ++t) {
    std::vector<double> x, y;
    std::vector<Moments> of_x(2);
    std::vector<PairSums> of_pairs(2);
    for (const std::int64_t id : ids) {
      x.push_back(normal(random));
      y.push_back(0.5 * x.back() + normal(random));
      const auto s = static_cast<std::size_t>(id % 2);
      // Each replica is a group of its own.
      const Moments mx{1.0, x.back() + 0.25, -0.25, 0.0625}, my{1.0, y.back() - 0.5, 0.5, 0.25};
      of_x[s].add(mx);
      of_pairs[s].add({mx, my, -0.125});
    }
    values.add_replicas(ids, x);
    sums.add_sums(of_x);
    pairs.add_replicas(ids, x, y);
    pair_sums.add_sums(of_pairs);
  }
  // Squares of deviations of some 10 about a mean of -60, over 320 values.
  const double bound = test::few_roundings(1e3);
  EXPECT_EQ(sums.samples(), values.samples());
  EXPECT_NEAR(sums.result().mean, values.result().mean, bound);
  EXPECT_NEAR(sums.result().error, values.result().error, bound);
  EXPECT_NEAR(pair_sums.result().mean, pairs.result().mean, bound);
  EXPECT_NEAR(pair_sums.result().error, pairs.result().error, bound);
}

/// The squares of a Gaussian series with correlation phi^|t| have correlation phi^2|t| and variance
/// 2. The error of the error is that of blocking; 0.2 of the time covers the bias of its level.
TEST(PooledCovariance, ErrorAndAutocorrelationTimeOfAr1) {
  for (const double phi : {0.0, 0.7, 0.95}) {
    SCOPED_TRACE(phi);
    const int replicas = 4;
    const std::size_t n = 1 << 15;
    const PooledCovariance pooled = variance_of(ar1_series(replicas, phi, n, 100));
    const Blocking b = pooled.result();
    const double exact = std::sqrt(2.0 / replicas) * exact_error(phi * phi, n);
    EXPECT_EQ(pooled.samples(), replicas * static_cast<double>(n));
    EXPECT_TRUE(b.converged);
    EXPECT_NEAR(b.mean, 1.0, 4.5 * exact);
    EXPECT_NEAR(b.error, exact, 4.5 * b.error_of_error + 0.1 * exact);
    const double time = 0.5 * (1.0 + phi * phi) / (1.0 - phi * phi);
    EXPECT_NEAR(b.autocorrelation_time, time, 2.0 * time * (4.5 * b.error_of_error / exact + 0.1));
  }
}

/// Of n independent values the mean square about their mean is (n - 1)/n of the variance; the error
/// of the mean makes up for it exactly.
TEST(PooledCovariance, FewIndependentValuesAreUnbiased) {
  const PooledCovariance pooled = variance_of({{1.0, 5.0, 3.0}});
  EXPECT_NEAR(pooled.result().mean, 4.0, test::few_roundings(9.0));
  EXPECT_EQ(variance_of({{2.0}}).result().mean, 0.0);
  EXPECT_EQ(variance_of({{2.0, 2.0, 2.0}}).result().error, 0.0);
}

TEST(PooledCovariance, LosesNoDigitsFarFromZero) {
  const std::vector<double> near = ar1(0.5, 4096, 3);
  std::vector<double> far = near;
  for (double& x : far) x += 1e6;
  // The values themselves are rounded to 1e6 * 2^-53, a hundred millionth of the spread of squares.
  EXPECT_NEAR(blocking(far).error, blocking(near).error, 1e-10);
  const Blocking a = variance_of({near}).result(), b = variance_of({far}).result();
  EXPECT_NEAR(b.mean, a.mean, 1e-8);
  EXPECT_NEAR(b.error, a.error, 1e-8);
}

/// A quarter of the series is permanently shifted: that is part of the variance,
/// 1 + 1/4 3/4 10^2, and of its error.
TEST(PooledCovariance, DifferencesThatLastAreInTheVariance) {
  std::vector<std::vector<double>> series = ar1_series(20, 0.5, 512, 40);
  for (std::size_t s = 0; s < 5; ++s) {
    for (double& x : series[s]) x += 10.0;
  }
  const Blocking b = variance_of(series).result();
  EXPECT_NEAR(b.mean, 19.75, 4.5 * b.error);
  EXPECT_EQ(b.block_length, 512u) << "whole series are compared";
}

/// Each of G series stays at 1 or at -1. With as many at either the first order vanishes, and the
/// error is sqrt(2)/(G - 1), that of the square of their mean. Otherwise (v - 1)^2 has the mean
/// 2/G^2 (1 - 1/G) and the square of the error, of a mean m with m^2 = chi^2/(G - 1), some
/// <max(4 chi^2, 2)>/G^2 = 4.7/G^2: never too small on the whole.
TEST(PooledCovariance, OfTwoStatesHasAnError) {
  constexpr int kSeries = 32, kDraws = 1000;
  const auto of_states = [&](const std::vector<double>& states) {
    std::vector<std::vector<double>> series;
    for (const double x : states) series.emplace_back(16, x);
    return variance_of(series).result();
  };
  std::vector<double> states(kSeries, 1.0);
  std::fill(states.begin(), states.begin() + kSeries / 2, -1.0);
  EXPECT_NEAR(of_states(states).error, std::sqrt(2.0) / (kSeries - 1), test::few_roundings());

  std::mt19937_64 random(5);
  double squares = 0.0, errors = 0.0;
  for (int k = 0; k < kDraws; ++k) {
    for (double& x : states) x = random() % 2 == 0 ? 1.0 : -1.0;
    const Blocking v = of_states(states);
    squares += (v.mean - 1.0) * (v.mean - 1.0) / kDraws;
    errors += v.error * v.error / kDraws;
  }
  // (chi^2 - 1)^2 has the mean 2 and the variance 60 - 4, a deviation of 7.5; 4.5 sigma.
  const double unit = 1.0 / (kSeries * kSeries);
  EXPECT_NEAR(squares, 2.0 * unit, 4.5 * 7.5 / std::sqrt(kDraws) * unit + 0.2 * unit);
  EXPECT_GT(errors, 3.0 * unit);
  EXPECT_LT(errors, 7.0 * unit);
}

TEST(PooledBlocking, ReportsItsMemory) {
  for (const std::size_t series : {1u, 3u, 32u}) {
    PooledBlocking sums(series);
    EXPECT_EQ(sums.max_numbers(0.0), static_cast<double>(sums.memory().size()));
    for (int n = 1; n <= 130; ++n) {
      for (std::size_t s = 0; s < series; ++s) sums.add(s, n);
      EXPECT_EQ(sums.max_numbers(n), static_cast<double>(sums.memory().size())) << n;
    }
  }
}

/// y = 2 x + noise: the covariance is twice the variance of x, its error that of the products.
TEST(PooledCovariance, OfTwoNumbers) {
  constexpr std::size_t kValues = 1 << 14;
  const std::vector<double> x = ar1(0.0, kValues, 61), noise = ar1(0.0, kValues, 62);
  PooledCovariance pooled;
  for (std::size_t t = 0; t < kValues; ++t) {
    const double y = 7.0 + 2.0 * x[t] + 3.0 * noise[t];
    pooled.add_replicas(std::vector<std::int64_t>{0}, std::span(&x[t], 1), std::span(&y, 1));
  }
  const Blocking b = pooled.result();
  // The variance of x y for means of 0: 2^2 <x^4> + 3^2 - 2^2.
  const double exact = std::sqrt((4.0 * 3.0 + 9.0 - 4.0) / kValues);
  EXPECT_NEAR(b.mean, 2.0, 4.5 * exact);
  EXPECT_NEAR(b.error, exact, 4.5 * b.error_of_error + 0.1 * exact);
  EXPECT_TRUE(b.converged);
}

/// Two replicas in different basins at the same distance from the mean: the fluctuations are not
/// converged.
TEST(PooledCovariance, TwoBasinsAreNotConverged) {
  std::vector<std::vector<double>> series = ar1_series(2, 0.5, 2048, 71);
  EXPECT_TRUE(variance_of(series).result().converged);
  for (double& x : series[0]) x += 20.0;
  const Blocking b = variance_of(series).result();
  EXPECT_FALSE(b.converged);
  // Four blocks of half a series: the error of the mean is 10/sqrt(3), that of its square sqrt(2)
  // times as much squared, but for noise of some 10 %.
  EXPECT_NEAR(b.error, std::sqrt(2.0) * 100.0 / 3.0, 5.0);
  EXPECT_NEAR(b.autocorrelation_time, 4096.0 / 6.0, 70.0);
}

// --- a fast motion that hides a slow one ---

/// Cheap noise with variance 1: uniform, from splitmix64, the same on every machine.
class UniformNoise {
 public:
  explicit UniformNoise(std::uint64_t seed) : state_(seed * 0xd1342543de82ef95u) {}
  double operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return std::sqrt(12.0) * (std::ldexp(static_cast<double>(z >> 11), -53) - 0.5);
  }

 private:
  std::uint64_t state_;
};

/// Replicas, and the share of the slow motion in the variance.
class BlockingTwoTimes : public ::testing::TestWithParam<std::tuple<int, double>> {};

/// Replicas of 5000 values with correlation times of 1/2 and 400. The scatter of means divided by
/// the quoted error is 1, with 2 to 5 % of noise; blocks alone give up to 2.5 (first two shares).
TEST_P(BlockingTwoTimes, ErrorIsTheScatterOfMeans) {
  constexpr std::size_t kValues = 5000;
  const auto [replicas, share] = GetParam();
  const std::uint64_t trials = replicas == 4 ? 1000 : replicas == 16 ? 250 : 100;
  const double phi = phi_of(400.0), kick = std::sqrt(1.0 - phi * phi);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(replicas));
  std::iota(ids.begin(), ids.end(), 0);
  double squares = 0.0, errors = 0.0, converged = 0.0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    UniformNoise noise(trial + 1);
    PooledBlocking pooled = PooledBlocking::of_replicas(replicas);
    std::vector<double> slow(ids.size()), values(ids.size());
    // A sum of many numbers, as the stationary one is.
    for (double& x : slow) {
      for (int k = 0; k < 12; ++k) x += noise() / std::sqrt(12.0);
    }
    for (std::size_t t = 0; t < kValues; ++t) {
      for (std::size_t r = 0; r < ids.size(); ++r) {
        slow[r] = phi * slow[r] + kick * noise();
        values[r] = std::sqrt(share) * slow[r] + std::sqrt(1.0 - share) * noise();
      }
      pooled.add_replicas(ids, values);
    }
    const Blocking b = pooled.result();
    squares += b.mean * b.mean / static_cast<double>(trials);
    errors += b.error / static_cast<double>(trials);
    converged += b.converged ? 1.0 / static_cast<double>(trials) : 0.0;
  }
  const double ratio = std::sqrt(squares) / errors;
  RecordProperty("ratio", std::to_string(ratio));
  EXPECT_GT(ratio, 0.85);
  EXPECT_LT(ratio, 1.2);
  // Where blocks fail by a factor of two, few runs may look converged.
  if (share > 0.0 && share < 0.03) {
    EXPECT_LT(converged, 0.5);
  } else if (share == 0.0) {
    EXPECT_GT(converged, 0.85);
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, BlockingTwoTimes,
                         ::testing::Combine(::testing::Values(4, 16, 64),
                                            ::testing::Values(0.0, 0.01, 0.02, 0.05, 0.2)));

/// Series of independent values whose variances differ: the spread of their variances is the error
/// of the common one, whatever the blocks within the series are.
TEST(PooledCovariance, ErrorIsThatOfWholeSeries) {
  constexpr std::size_t kSeries = 16, kValues = 4096;
  UniformNoise noise(3);
  std::vector<double> variances(kSeries, 0.0);
  std::vector<std::vector<double>> series(kSeries);
  for (std::size_t s = 0; s < kSeries; ++s) {
    for (std::size_t t = 0; t < kValues; ++t) {
      const double x = series[s].emplace_back((s % 2 == 0 ? 1.0 : 2.0) * noise());
      variances[s] += x * x / kValues;
    }
  }
  const Blocking b = variance_of(series).result();
  // The means of the series, of order 1/64, enter to second order.
  EXPECT_NEAR(b.error, mean_and_error(variances).error, 0.01 * b.error);
  EXPECT_EQ(b.block_length, kValues);
}

// --- different starts ---

/// Two series of each start, of two values: Welch's t in closed form.
TEST(SigmasBetweenStarts, IsStudentsT) {
  PooledBlocking pooled(4), constant(4);
  const std::vector<double> means{1.0, 5.0, 2.0, 7.0};
  for (std::size_t s = 0; s < 4; ++s) {
    add_series(pooled, s, {means[s] - 0.5, means[s] + 0.5});
    add_series(constant, s, std::vector<double>(10, s < 2 ? 1.0 : 2.0));
  }
  // Starts 0, 1, 0, 1: means 1.5 and 6 with squared errors 1/4 and 1.
  const double t = 4.5 / std::sqrt(1.25), freedom = 1.25 * 1.25 / (0.0625 + 1.0);
  const std::vector<int> starts{0, 1, 0, 1};
  EXPECT_NEAR(pooled.sigmas_between(starts), normal_of_t(t, freedom), test::few_roundings(10.0));
  // One series of a start has no spread.
  EXPECT_EQ(pooled.sigmas_between(std::vector<int>{0, 1, 1, 1}), 0.0);
  EXPECT_EQ(pooled.sigmas_between(std::vector<int>{0, -1, -1, 1}), 0.0);
  EXPECT_EQ(PooledBlocking(4).sigmas_between(starts), 0.0);
  // Constant series that differ are different.
  EXPECT_EQ(constant.sigmas_between(std::vector<int>{0, 0, 1, 1}), kMostSigmas);
  EXPECT_EQ(constant.sigmas_between(starts), 0.0);
}

TEST(SigmasBetweenStarts, HasTheProbabilityOfANormalDeviate) {
  // Eight series of each of two starts with the same distribution.
  constexpr int kTrials = 4000;
  std::vector<int> starts;
  for (int s = 0; s < 16; ++s) starts.push_back(s % 2);
  int above_2 = 0, above_3 = 0;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    UniformNoise noise(trial + 7);
    PooledBlocking pooled(16);
    for (std::size_t k = 0; k < 16 * 8; ++k) pooled.add(k / 8, noise());
    const double sigmas = pooled.sigmas_between(starts);
    above_2 += sigmas > 2.0;
    above_3 += sigmas > 3.0;
  }
  for (const auto& [count, probability] : {std::pair{above_2, 0.0455}, {above_3, 0.0027}}) {
    const double expected = kTrials * probability;
    // Welch's degrees of freedom and the approximation (65) are good to a tenth here.
    EXPECT_NEAR(count, expected, 4.5 * std::sqrt(expected) + 0.1 * expected);
  }
}

TEST(SigmasBetweenStarts, ComparesEachStartWithTheOthers) {
  // Only the third of three starts differs.
  PooledBlocking pooled(12);
  UniformNoise noise(5);
  std::vector<int> starts;
  for (std::size_t s = 0; s < 12; ++s) {
    starts.push_back(static_cast<int>(s % 3));
    for (int t = 0; t < 100; ++t) pooled.add(s, noise() + (s % 3 == 2 ? 2.0 : 0.0));
  }
  EXPECT_GT(pooled.sigmas_between(starts), 4.0);
}

TEST(PooledBlocking, SeriesOfManyReplicasHaveOneStart) {
  EXPECT_EQ(PooledBlocking::series_of_replicas(100), 32u);
  EXPECT_EQ(PooledBlocking::series_of_replicas(100, 2), 32u);
  EXPECT_EQ(PooledBlocking::series_of_replicas(100, 3), 30u);
  EXPECT_EQ(PooledBlocking::series_of_replicas(20, 3), 20u);
  EXPECT_EQ(PooledBlocking::series_of_replicas(100, 40), 32u);
}

// --- errors ---

TEST(Errors, ArePrintedWithTwoDigits) {
  const std::vector<double> errors{0.032, 0.0099, 1.0, 9.9, 12.0, 1e4, 1e-20, 0.0};
  std::vector<int> decimals;
  for (const double error : errors) decimals.push_back(decimals_for(error));
  EXPECT_EQ(decimals, (std::vector{3, 4, 1, 1, 0, 0, 9, 3}));
}

TEST(Errors, MeanAndErrorInClosedForm) {
  const MeanError e = mean_and_error(std::vector<double>{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(e.mean, 2.5);
  EXPECT_DOUBLE_EQ(e.error, std::sqrt(5.0 / 3.0 / 4.0));
}

TEST(Errors, RatioOfEqualGroupsIsTheMean) {
  const std::vector<double> counts{5, 7, 6, 10};
  const std::vector<double> samples(4, 2.0);
  const MeanError ratio = ratio_and_error(counts, samples);
  const MeanError mean = mean_and_error(std::vector<double>{2.5, 3.5, 3.0, 5.0});
  EXPECT_DOUBLE_EQ(ratio.mean, mean.mean);
  EXPECT_NEAR(ratio.error, mean.error, test::few_roundings());
  // A group without samples has no effect.
  const MeanError more =
      ratio_and_error(std::vector<double>{5, 0, 7, 6, 10}, std::vector<double>{2, 0, 2, 2, 2});
  EXPECT_DOUBLE_EQ(more.error, ratio.error);
  EXPECT_EQ(ratio_and_error(std::vector<double>{5}, std::vector<double>{2}).error, 0.0);
  EXPECT_EQ(ratio_and_error({}, {}).mean, 0.0);
}

TEST(Errors, RatioOfUnequalGroupsCoversTheTruth) {
  // Poisson counts of rate 3 a sample in 24 groups of 20 to 66 samples.
  std::mt19937_64 random(9);
  const int trials = 2000;
  double sum = 0.0;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> counts, samples;
    for (int g = 0; g < 24; ++g) {
      samples.push_back(20.0 + 2.0 * g);
      counts.push_back(std::poisson_distribution<int>(3.0 * samples.back())(random));
    }
    const MeanError e = ratio_and_error(counts, samples);
    sum += (e.mean - 3.0) * (e.mean - 3.0) / (e.error * e.error) / trials;
  }
  // t-distributed with 23 degrees of freedom: variance 23/21 = 1.095; of squares, about 2 of its
  // square; the groups differ in size, which adds a few per cent: 0.05.
  EXPECT_NEAR(sum, 23.0 / 21.0, 4.5 * 1.095 * std::sqrt(2.4 / trials) + 0.05);
}

}  // namespace
}  // namespace tarn::analysis
