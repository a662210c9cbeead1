#include "tarn/analysis/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tarn/analysis/line_fit.hpp"

namespace tarn::analysis {
namespace {

constexpr double kLeastSlope = 0.5;
constexpr double kAgree = 0.1;

struct Point {
  double step, error;
};

}  // namespace

OrderFit fit_order(std::span<const double> steps, std::span<const double> errors,
                   std::span<const double> reference_errors) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (!std::isfinite(errors[k]) || !(errors[k] > 0.0)) continue;
    if (!(errors[k] >= kMinErrorRatio * reference_errors[k])) continue;
    points.push_back({steps[k], errors[k]});
  }
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.step < b.step; });
  std::vector<double> slopes;
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    slopes.push_back(std::log(points[k + 1].error / points[k].error) /
                     std::log(points[k + 1].step / points[k].step));
  }
  if (slopes.empty() || !(slopes.front() >= kLeastSlope)) return {};
  double low = slopes.front(), high = low;
  std::size_t count = 1;
  for (; count < slopes.size(); ++count) {
    const double lower = std::min(low, slopes[count]), upper = std::max(high, slopes[count]);
    if (upper - lower > kAgree * lower) break;
    low = lower;
    high = upper;
  }
  std::vector<double> x, y;
  for (std::size_t k = 0; k <= count; ++k) {
    x.push_back(std::log(points[k].step));
    y.push_back(std::log(points[k].error));
  }
  OrderFit fit;
  fit.order = fit_line(x, y).slope;
  fit.points = count + 1;
  fit.smallest_step = points.front().step;
  fit.largest_step = points[count].step;
  if (count > 1) fit.spread = high - low;
  return fit;
}

}  // namespace tarn::analysis
