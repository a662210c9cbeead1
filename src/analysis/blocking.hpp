#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.hpp"
#include "tarn/analysis/errors.hpp"

namespace tarn::analysis {

/// Mean or covariance of a correlated time series, with its error.
struct Blocking {
  double mean = 0.0;
  /// Standard error of the mean, at least that of independent values; 0 for fewer than two values
  /// or identical values.
  double error = 0.0;
  double error_of_error = 0.0;  ///< standard deviation of `error` itself
  /// Integrated autocorrelation time 1/2 + sum_t rho(t), in sampling intervals; at least 1/2, the
  /// value for white noise.
  double autocorrelation_time = 0.5;
  /// Length of the blocks that give the error; for whole series, their mean length.
  std::size_t block_length = 1;
  /// False if the series are too short for their correlation time and fewer than sixteen, whose
  /// spread would determine the error, or if the spread of four or more series exceeds the error
  /// from blocks by half. The error may then be a lower bound.
  bool converged = false;
};

/// Largest result of sigmas_between(), also for different numbers without any spread.
inline constexpr double kMostSigmas = 99.0;

/// Blocking (Flyvbjerg & Petersen 1989), equation (30): neighbours are merged, level by level,
/// until the blocks are independent. The error is taken from the first level with at least eight
/// blocks whose length B satisfies B^3 > 2 n (s_B / s_1)^4 (Lee et al. 2011, a balance of bias and
/// noise). s_B is the largest error estimate up to that level: MD series have no lasting
/// anticorrelation, and a level that is low by chance must not end the search. For this reason the
/// squared error of white noise in b blocks is too large by a fraction of (pi b)^-1/2, or up to
/// twice that.
///
/// Blocks of a level leave out values without a partner. The error is that of the mean of all
/// values: the error from the blocks times the square root of the fraction of the values in them.
///
/// The first level with independent blocks may hide slow motions of small amplitude. With four or
/// more series, the error is therefore the larger one of that level and of the spread of whole
/// series, and with sixteen or more it is that spread, with Student's t for the number of series
/// (`error_of_error`).
Blocking blocking(std::span<const double> series);

/// Sums over blocks of 1, 2, 4, ... values of several independent series, added value by value. The
/// memory grows with the logarithm of their length only. A value is `kMoments` numbers and a
/// weight. Blocks of all series are pooled, so the error includes lasting differences between the
/// series.
template <std::size_t kMoments>
class BlockSums {
 public:
  using Value = std::array<double, kMoments + 1>;  // the weight comes last

  explicit BlockSums(std::size_t series) : series_(series) {}
  /// Number of series: one per replica; more than 32 replicas share 32 series.
  /// @param starts number of start structures that the replicas take in turn; the replicas of a
  /// series have the same one
  static std::size_t series_of_replicas(int replicas, int starts = 1);

  /// Total weight of the values so far.
  double samples() const { return empty() ? 0.0 : sum().back(); }

  /// Upper bound of the length of memory() for a number of values of each series.
  double max_numbers(double values) const;
  /// The state for a checkpoint.
  void archive(Memory& m);
  std::vector<double> memory() const { return memory_of(*this); }
  void restore(std::span<const double> memory) { restore_from(memory, *this); }

 protected:
  bool empty() const { return levels_.empty(); }
  /// Sum of all values.
  const Value& sum() const { return levels_.front().sum; }
  /// The next value of a series.
  void add(std::size_t series, Value value);
  /// Adds one value of each running replica: value_of(r) for replica ids[r].
  template <class F>
  void add_replicas_by(std::span<const std::int64_t> ids, const F& value_of);
  /// Errors of a function of the means. To first order a value changes the function by
  /// residual . value / (sum of the weights).
  /// @param residual_of the residual for values with a given sum; residual . sum = 0
  /// @param with_series false: from blocks alone
  /// @return everything but the mean
  Blocking errors(Value (*residual_of)(const Value& sum), bool with_series = true) const;
  /// Largest deviation of the series with one start from all others, for a function of the means as
  /// in errors(): Student's t as a normal deviate of the same probability, equation (65).
  /// @param start_of_series start of each series; -1: several
  double sigmas_between(Value (*residual_of)(const Value& sum),
                        std::span<const int> start_of_series) const;

  static constexpr std::size_t kShifts = kMoments == 1 ? 1 : 2;
  std::array<double, kShifts> shift_{};  // subtracted from all values, to keep their digits

 private:
  static constexpr std::size_t kNumbers = kMoments + 1;
  static constexpr std::size_t kProducts = kNumbers * (kNumbers + 1) / 2;
  /// Sums over the blocks of one length.
  struct Level {
    double blocks = 0.0;
    Value sum{};
    std::array<double, kProducts> products{};  // of numbers i <= j of a block, row by row
    std::vector<Value> waiting;                // [series] block without a partner; weight 0: none

    void add(const Value& value);
  };
  /// A level with each series as one block.
  Level whole_series() const;
  /// Sum of all values of a series.
  Value total_of(std::size_t series) const;
  static double error(const Level& level, Value (*residual_of)(const Value& sum));

  std::size_t series_;
  std::vector<Level> levels_;
};

/// Blocking of several series. A value may be the sum of several numbers, with their count as its
/// weight; errors are then those of a ratio, see ratio_and_error().
class PooledBlocking : public BlockSums<1> {
 public:
  explicit PooledBlocking(std::size_t series = 1) : BlockSums(series) {}
  static PooledBlocking of_replicas(int replicas, int starts = 1) {
    return PooledBlocking(series_of_replicas(replicas, starts));
  }

  /// Adds one number of each running replica.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
  /// Adds the numbers of each series at one time, given by their sums. A series may have none.
  void add_sums(std::span<const Moments> of_series);
  /// The next value of a series.
  void add(std::size_t series, double sum, double weight = 1.0);
  Blocking result() const { return result(true); }
  /// The same without the spread of whole series, which is uncertain if there are few.
  Blocking result_of_blocks() const { return result(false); }
  /// Whether the mean depends on the start of the series, in standard errors; at most kMostSigmas,
  /// 0 with fewer than two series of each start.
  double sigmas_between(std::span<const int> start_of_series) const;

 private:
  Blocking result(bool with_series) const;
};

/// Sums over pairs of numbers x and y, relative to pivots p and q.
struct PairSums {
  Moments x, y;
  double product = 0.0;  ///< sum of (x - p)(y - q)

  /// Adds other pairs.
  void add(const PairSums& other);
};

/// Covariance of two numbers in several series about their common means, with its error by
/// blocking, equation (53). To first order a pair x, y contributes
/// (x - mean)(y - mean) - covariance. That vanishes for values at two places with half of them at
/// each, so the error is at least that of the product of the means to second order.
class PooledCovariance : public BlockSums<3> {
 public:
  explicit PooledCovariance(std::size_t series = 1) : BlockSums(series) {}
  static PooledCovariance of_replicas(int replicas, int starts = 1) {
    return PooledCovariance(series_of_replicas(replicas, starts));
  }

  /// Adds two numbers of each running replica.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> x,
                    std::span<const double> y);
  /// Adds the pairs of each series at one time, given by their sums.
  void add_sums(std::span<const PairSums> of_series);
  /// The covariance is in `mean`. It is the covariance of the values about their means plus the
  /// covariance of the errors of these means, by which the former is too small. Not converged if a
  /// mean is not converged or the second order dominates; the autocorrelation time is then at least
  /// that of the means.
  Blocking result() const;
  /// The same as PooledBlocking::sigmas_between(), for the covariance.
  double sigmas_between(std::span<const int> start_of_series) const;
};

/// Test for equilibrium: compares the second half of several growing time series with the first
/// half and with the beginning. Each series is stored in 32 to 64 blocks of equal length.
class Halves {
 public:
  explicit Halves(std::size_t series = 1) : series_(series), last_(series) {}
  /// With one series per replica or, as in PooledBlocking, per several replicas.
  static Halves of_replicas(int replicas, int starts = 1);

  /// One number of each running replica, at one time.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
  /// The numbers of each series at one time, given by their sums.
  void add_sums(std::span<const Moments> of_series);

  /// Difference between the second half and an earlier part.
  struct Shift {
    double mean = 0.0;  ///< of the second half minus the other part, over the series
    /// The mean divided by its error: Student's t as a normal deviate of the same probability
    /// (Wallace 1959, equation (65)); 0 if the error is unknown.
    double sigmas = 0.0;
  };
  /// Relative to the first half, with the error from the spread of the series.
  /// @param error of the mean of all values, used for fewer than four series: the error of the
  /// difference of the halves is twice as large; 0: unknown
  Shift shift(double error) const;
  /// Relative to the first eighth (Geweke 1992), with the error from the blocks of the second half.
  /// Detects a start that relaxes quickly, also in few series.
  Shift shift_from_start() const;

  /// The state for a checkpoint.
  void archive(Memory& m);
  std::vector<double> memory() const { return memory_of(*this); }
  void restore(std::span<const double> memory) { restore_from(memory, *this); }

 private:
  struct Sum {
    double of_values = 0.0, weight = 0.0;
  };
  void end_time();
  /// Of a series, over blocks from begin to before end.
  Sum sum_of(std::size_t series, std::size_t begin, std::size_t end) const;

  std::size_t series_;
  std::int64_t length_ = 1;               // times in a block
  std::int64_t times_ = 0;                // in the last block, which is not whole
  std::vector<Sum> last_;                 // [series]
  std::vector<std::vector<Sum>> blocks_;  // [block][series]
};

}  // namespace tarn::analysis
