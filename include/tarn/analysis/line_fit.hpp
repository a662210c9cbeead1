#pragma once

#include <span>

namespace tarn::analysis {

/// A straight line through points by least squares, as equation (67) takes it.
struct LineFit {
  double slope = 0.0;
  double intercept = 0.0;
  double rms_about_mean = 0.0;  ///< of y, whatever the line
};

/// @param x, y as long as each other; fewer than two different x give a slope of 0
LineFit fit_line(std::span<const double> x, std::span<const double> y);

}  // namespace tarn::analysis
