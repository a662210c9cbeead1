#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tarn::analysis {

/// Mean, or covariance, of a correlated time series.
struct Blocking {
  double mean = 0.0;
  /// Standard error of the mean, never below that of independent values; 0 when there are fewer
  /// than 2 values or all are the same.
  double error = 0.0;
  double error_of_error = 0.0;  ///< standard deviation of `error` itself
  /// Integrated autocorrelation time 1/2 + sum_t rho(t), in sampling intervals; 1/2 for white
  /// noise, and never less.
  double autocorrelation_time = 0.5;
  std::size_t block_length = 1;  ///< that the error was taken at; of whole series their mean length
  /// False when the series is too short for its correlation, and there are not sixteen or more of
  /// them whose spread tells the error: it is then a lower bound.
  bool converged = false;
};

/// Blocking (Flyvbjerg & Petersen 1989), equation (30): neighbours are merged, level by level,
/// until the blocks are independent. The level is the first one of eight blocks or more whose
/// length B satisfies B^3 > 2 n (s_B / s_1)^4 (Lee et al. 2011, a balance of bias and noise). s_B
/// is the largest of the error estimates up to that level: series of MD have no anticorrelation
/// that would last, and a level that came out low by chance must not end the search. Of white noise
/// in b blocks the square of the error is too large by (pi b)^-1/2 of itself, or up to twice that,
/// therefore.
///
/// Values without a partner are in no block of their level and longer ones, and the error is that
/// of the mean of all values: that of the mean of those in the blocks by the square root of their
/// share. Of four series or more the last level is the whole of each.
Blocking blocking(std::span<const double> series);

/// Sums over blocks of 1, 2, 4, ... values of several independent series side by side, value by
/// value, in memory that grows with the logarithm of their length only. A value is `kMoments`
/// numbers and a weight. The blocks of all series count together, so that a difference between
/// them, however long it lasts, is part of the error.
template <std::size_t kMoments>
class BlockSums {
 public:
  using Value = std::array<double, kMoments + 1>;  // the weight comes last

  explicit BlockSums(std::size_t series) : series_(series) {}
  /// For so many replicas: a series each, or shared by several where there are more than 32.
  static std::size_t series_of_replicas(int replicas);

  /// How many numbers were added, by weight.
  double samples() const { return empty() ? 0.0 : sum().back(); }

  /// At most that many numbers are remembered of so many values of each series.
  double max_numbers(double values) const;
  /// All that it remembers, for a checkpoint.
  std::vector<double> memory() const;
  /// @throws LayoutError for what is no memory() of these
  void restore(std::span<const double> memory);

 protected:
  bool empty() const { return levels_.empty(); }
  /// Of all values.
  const Value& sum() const { return levels_.front().sum; }
  /// The next value of a series.
  void add(std::size_t series, Value value);
  /// One value of each replica that still runs, value_of(r) of that with the number ids[r].
  template <class F>
  void add_replicas_by(std::span<const std::int64_t> ids, const F& value_of);
  /// Errors of a function of the means that a value changes by residual . value / (sum of the
  /// weights).
  /// @param residual_of(sum) of values with that sum; residual . sum = 0
  /// @return all but the mean
  Blocking errors(Value (*residual_of)(const Value& sum)) const;

  static constexpr std::size_t kShifts = kMoments == 1 ? 1 : 2;
  std::array<double, kShifts> shift_{};  // taken off, so that no digits are lost

 private:
  static constexpr std::size_t kNumbers = kMoments + 1;
  static constexpr std::size_t kProducts = kNumbers * (kNumbers + 1) / 2;
  /// Sums over the blocks of one length.
  struct Level {
    double blocks = 0.0;
    Value sum{};
    std::array<double, kProducts> products{};  // of numbers i <= j of a block, row by row
    std::vector<Value> waiting;                // [series] a block without a partner; weight 0: none

    void add(const Value& value);
  };
  /// All values of a series as one block of it.
  Level whole_series() const;
  static double error(const Level& level, Value (*residual_of)(const Value& sum));

  std::size_t series_;
  std::vector<Level> levels_;
};

/// Blocking of several series. A value may stand for several: it is then their sum, with their
/// number as its weight, and errors are those of a ratio (see ratio_and_error()).
class PooledBlocking : public BlockSums<1> {
 public:
  explicit PooledBlocking(std::size_t series = 1) : BlockSums(series) {}
  static PooledBlocking of_replicas(int replicas) {
    return PooledBlocking(series_of_replicas(replicas));
  }

  /// One number of each replica that still runs.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
  /// The next value of a series.
  void add(std::size_t series, double sum, double weight = 1.0);
  Blocking result() const;
};

/// Covariance of two numbers of several series about the means of them all, with its error by
/// blocking, equation (53): to first order x and y add (x - mean)(y - mean) - covariance to it.
/// That vanishes where half of the values lie at each of two places, so the error is at least that
/// of the product of the means to second order.
class PooledCovariance : public BlockSums<3> {
 public:
  explicit PooledCovariance(std::size_t series = 1) : BlockSums(series) {}
  static PooledCovariance of_replicas(int replicas) {
    return PooledCovariance(series_of_replicas(replicas));
  }

  /// Two numbers of each replica that still runs.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> x,
                    std::span<const double> y);
  /// With the covariance as `mean`: that of the values about their means, and that of the errors of
  /// these means, which their own means take off. Not converged where a mean is not, or where the
  /// second order is the larger one; the autocorrelation time is then at least that of the means.
  Blocking result() const;
};

}  // namespace tarn::analysis
