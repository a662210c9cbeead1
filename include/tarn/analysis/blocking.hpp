#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tarn::analysis {

/// Mean of a correlated time series.
struct Blocking {
  double mean = 0.0;
  /// Standard error of the mean, never below that of independent values; 0 when there are fewer
  /// than 2 values or all are the same.
  double error = 0.0;
  double error_of_error = 0.0;  ///< standard deviation of `error` itself
  /// Integrated autocorrelation time 1/2 + sum_t rho(t), in sampling intervals; 1/2 for white
  /// noise, and never less.
  double autocorrelation_time = 0.5;
  std::size_t block_length = 1;  ///< that the error was taken at
  /// False when the series is too short for its correlation, and there are not sixteen or more of
  /// them whose spread tells the error: it is then a lower bound.
  bool converged = false;
};

/// Blocking (Flyvbjerg & Petersen 1989): neighbours are merged, level by level, until the blocks
/// are independent. The level is the first one whose block length B satisfies
/// B^3 > 2 n (s_B / s_1)^4 (Lee et al. 2011, a balance of bias and noise). s_B is the error
/// estimate at that level, and at least s_1: series of MD have no anticorrelation that would last.
/// Of white noise in b blocks the square of the error is too large by (pi b)^-1/2 of itself,
/// therefore.
///
/// A last value without a partner is left out at its level; the mean is that of all values.
Blocking blocking(std::span<const double> series);

/// The same of several independent series side by side, value by value, in memory that grows with
/// the logarithm of their length only. The blocks of all series count together, so that a
/// difference between the series, however long it lasts, is part of the error. A value may stand
/// for several: it is then their sum, with their number as its weight, and errors
/// are those of a ratio (see ratio_and_error()).
class PooledBlocking {
 public:
  explicit PooledBlocking(std::size_t series = 1) : series_(series) {}
  /// For so many replicas: a series each, or shared by several where there are more than 32.
  static PooledBlocking of_replicas(int replicas);

  /// The next value of a series.
  void add(std::size_t series, double sum, double weight = 1.0);
  /// One value of each replica that still runs.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
  Blocking result() const;
  /// How many numbers were added, by weight.
  double samples() const { return levels_.empty() ? 0.0 : levels_[0].weight; }

  /// All that it remembers, for a checkpoint.
  std::vector<double> memory() const;
  void restore(std::span<const double> memory);

 private:
  /// Sums over the blocks of one length; s is the sum of a block and w its weight.
  struct Level {
    double blocks = 0.0;
    double sum = 0.0, weight = 0.0;       // of s, w
    double ss = 0.0, sw = 0.0, ww = 0.0;  // of s^2, s w, w^2
    std::vector<double> waiting;          // [series] s, w of a block without a partner; w = 0: none
  };
  static double error(const Level& level);

  std::size_t series_;
  double shift_ = 0.0;  // a typical value, taken off so that no digits are lost
  std::vector<Level> levels_;
};

}  // namespace tarn::analysis
