#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "tarn/analysis/errors.hpp"

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

/// Fits the asymptotic range: from the smallest step upwards, as long as all slopes between
/// neighbours agree to a tenth. There is no order if the first slope is below one half, where the
/// error levels off.
/// @param steps, errors of the same length, in any order; errors that are not finite and above 0
/// are ignored
OrderFit fit_order(std::span<const double> steps, std::span<const double> errors);

/// Least squares fit of a straight line, as used by equation (67).
struct LineFit {
  double slope = 0.0;
  double intercept = 0.0;
  double rms_about_mean = 0.0;  ///< of y, independent of the fit
};

/// @param x, y of the same length; the slope is 0 for fewer than two different x
LineFit fit_line(std::span<const double> x, std::span<const double> y);

/// A mean y(P) = limit + c1/P^2 (+ c2/P^4) by weighted least squares, equation (84).
struct BeadLimit {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  MeanError limit{kNone, kNone};  ///< NaN: fewer than two means
  double c1 = kNone, c2 = 0.0;
  std::size_t points = 0;  ///< means in the fit, those with the most beads
  double chi2 = 0.0;
  /// Points minus coefficients; 0: nothing tests the fit.
  std::size_t degrees_of_freedom = 0;

  double at(double beads) const;
};

/// Fits all means with one term, then with two, and then leaves out the smallest numbers of beads
/// until the deviations agree with the errors and the limit changes by at most 1.5 standard errors
/// without the next one, or three means remain. The error of the limit is statistical only.
/// @param beads different numbers, in any order; @param means of the same length. Means that are
/// not finite are ignored; if an error is unknown (0 or not finite), all means have equal weight
/// and the error of the limit is unknown, 0.
BeadLimit bead_limit(std::span<const int> beads, std::span<const MeanError> means);

}  // namespace tarn::analysis
