#include "tarn/analysis/line_fit.hpp"

#include <cmath>
#include <cstddef>

namespace tarn::analysis {

LineFit fit_line(std::span<const double> x, std::span<const double> y) {
  LineFit fit;
  if (x.empty()) return fit;
  const double n = static_cast<double>(x.size());
  double x_mean = 0.0, y_mean = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    x_mean += x[k] / n;
    y_mean += y[k] / n;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - x_mean) * (x[k] - x_mean);
    xy += (x[k] - x_mean) * (y[k] - y_mean);
    yy += (y[k] - y_mean) * (y[k] - y_mean);
  }
  fit.slope = xx > 0.0 ? xy / xx : 0.0;
  fit.intercept = y_mean - fit.slope * x_mean;
  fit.rms_about_mean = std::sqrt(yy / n);
  return fit;
}

}  // namespace tarn::analysis
