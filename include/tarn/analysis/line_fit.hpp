#pragma once

#include <span>

namespace tarn::analysis {

/// Least squares fit of a straight line, as used by equation (67).
struct LineFit {
  double slope = 0.0;
  double intercept = 0.0;
  double rms_about_mean = 0.0;  ///< of y, independent of the fit
};

/// @param x, y of the same length; the slope is 0 for fewer than two different x
LineFit fit_line(std::span<const double> x, std::span<const double> y);

}  // namespace tarn::analysis
