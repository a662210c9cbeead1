#pragma once

#include <cstddef>
#include <span>

namespace tarn::analysis {

/// Mean of a correlated time series.
struct Blocking {
  double mean = 0.0;
  double error = 0.0;  ///< standard error of the mean; 0 when there are fewer than 2 values
  double error_of_error = 0.0;  ///< standard deviation of `error` itself
  /// Integrated autocorrelation time 1/2 + sum_t rho(t), in sampling intervals; 1/2 for white
  /// noise.
  double autocorrelation_time = 0.5;
  std::size_t block_length = 1;  ///< that the error was taken at
  /// False when the series is too short for its correlation: the error is then a lower bound.
  bool converged = false;
};

/// Blocking (Flyvbjerg & Petersen 1989): neighbours are averaged, level by level, until the blocks
/// are independent. The level is the first one whose block length B satisfies
/// B^3 > 2 n (s_B / s_1)^4, s_B being the error estimate at that level and the ratio at least 1
/// (Lee et al. 2011, a balance of bias and noise).
///
/// A last value without a partner is left out at its level; the mean is that of all values.
Blocking blocking(std::span<const double> series);

}  // namespace tarn::analysis
