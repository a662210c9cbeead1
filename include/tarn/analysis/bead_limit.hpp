#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "tarn/analysis/errors.hpp"

/// @file
/// Extrapolation of averages of ring polymers to infinitely many beads.

namespace tarn::analysis {

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
