#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

/// @file
/// Order of convergence: dependence of the errors of a method on its step.

namespace tarn::analysis {

/// Order of convergence, error = C step^order, by least squares of the logarithms, equation (67).
struct OrderFit {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double order = kNone;   ///< NaN: undefined
  double spread = kNone;  ///< of the slopes between neighbours; NaN for two points
  std::size_t points = 0;
  double smallest_step = kNone, largest_step = kNone;  ///< of the points
};

/// Smallest usable ratio of an error to the error of the reference: the error is then accurate to a
/// tenth.
constexpr double kMinErrorRatio = 10.0;

/// Fits the asymptotic range: from the smallest step with a usable error (kMinErrorRatio) upwards,
/// as long as all slopes between neighbours agree to a tenth. There is no order if the first slope
/// is below one half, where the error levels off.
/// @param steps, errors of the same length, in any order; errors that are not finite are ignored
/// @param reference_errors of the reference solution, of the same length
OrderFit fit_order(std::span<const double> steps, std::span<const double> errors,
                   std::span<const double> reference_errors);

}  // namespace tarn::analysis
