#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

/// @file
/// How errors of a method go with its step.

namespace tarn::analysis {

/// The order of convergence, error = C step^order, by least squares in the logarithms: equation
/// (67).
struct OrderFit {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  double order = kNone;   ///< NaN: there is none
  double spread = kNone;  ///< of the slopes between neighbours; NaN: only two points tell it
  std::size_t points = 0;
  double smallest_step = kNone, largest_step = kNone;  ///< of the points
};

/// An error is believed from so many times that of the reference on: it is then off by a tenth of
/// itself at most.
constexpr double kMinErrorRatio = 10.0;

/// Fits the asymptotic range: begins with the smallest step whose error is believed, and takes
/// further ones while all slopes between neighbours agree to a tenth. There is no order where the
/// first slope is below one half: the error levels off.
/// @param steps, errors as long as each other, in any order; errors that are not finite are left
///        out
/// @param reference_errors of the solution that they were measured against, likewise
OrderFit fit_order(std::span<const double> steps, std::span<const double> errors,
                   std::span<const double> reference_errors);

/// Times that are whole numbers of each step.
struct CommonTimes {
  double interval = 0.0;
  std::int64_t count = 0;  ///< intervals up to the end
};

/// The shortest interval that is a whole number of each step, to rounding, and how often it fits
/// into a duration. Nothing if it is longer than that or than a thousand of the largest steps.
/// @param steps greater than 0
std::optional<CommonTimes> common_times(std::span<const double> steps, double duration);

}  // namespace tarn::analysis
