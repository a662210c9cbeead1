#include "tarn/analysis/convergence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tarn::analysis {
namespace {

constexpr double kLeastSlope = 0.5;
constexpr double kAgree = 0.1;

struct Point {
  double step, error;
};

struct BeadPoint {
  int beads;
  MeanError mean;
};

bool has_error(const BeadPoint& point) {
  return std::isfinite(point.mean.error) && point.mean.error > 0.0;
}

/// The fit with a number of terms in 1/P^2, to means whose errors are known or all unknown: the
/// rows [1, x, x^2 | mean], weighted by 1/error, are brought to triangular form R by rotations.
BeadLimit fit(std::span<const BeadPoint> points, int terms, bool errors_known) {
  const auto n = static_cast<std::size_t>(terms) + 1;
  const double fewest = points.front().beads;  // powers of (fewest / P)^2 are at most 1
  std::array<std::array<double, 4>, 3> r{};    // with the right side in column n
  BeadLimit result;
  for (const BeadPoint& point : points) {
    const double weight = errors_known ? 1.0 / point.mean.error : 1.0;
    const double x = (fewest / point.beads) * (fewest / point.beads);
    std::array<double, 4> row{};
    double power = weight;
    for (std::size_t k = 0; k < n; ++k, power *= x) row[k] = power;
    row[n] = weight * point.mean.mean;
    for (std::size_t k = 0; k < n; ++k) {
      if (row[k] == 0.0) continue;
      const double length = std::hypot(r[k][k], row[k]);
      const double c = r[k][k] / length, s = row[k] / length;
      for (std::size_t j = k; j <= n; ++j) {
        const double old = r[k][j];
        r[k][j] = c * old + s * row[j];
        row[j] = c * row[j] - s * old;
      }
    }
    if (errors_known) result.chi2 += row[n] * row[n];
  }
  std::array<double, 3> solution{}, first_row{};  // of R^-1
  for (std::size_t k = n; k-- > 0;) {
    solution[k] = r[k][n];
    for (std::size_t j = k + 1; j < n; ++j) solution[k] -= r[k][j] * solution[j];
    solution[k] /= r[k][k];
  }
  double variance = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    first_row[k] = k == 0 ? 1.0 : 0.0;
    for (std::size_t j = 0; j < k; ++j) first_row[k] -= first_row[j] * r[j][k];
    first_row[k] /= r[k][k];
    variance += first_row[k] * first_row[k];
  }
  result.limit = {solution[0], errors_known ? std::sqrt(variance) : 0.0};
  const double square = fewest * fewest;
  result.c1 = solution[1] * square;
  if (terms > 1) result.c2 = solution[2] * square * square;
  result.points = points.size();
  result.degrees_of_freedom = points.size() - static_cast<std::size_t>(terms) - 1;
  return result;
}

/// Whether chi^2 is below its mean plus two standard deviations: the probability of more is about
/// 5 % for one to three degrees of freedom.
bool agrees_with_errors(const BeadLimit& fit) {
  const auto freedom = static_cast<double>(fit.degrees_of_freedom);
  return fit.degrees_of_freedom == 0 || fit.chi2 <= freedom + 2.0 * std::sqrt(2.0 * freedom);
}

/// Whether the limit changes by at most 1.5 standard errors without the fewest beads. A mean with
/// few beads and a small error may determine the fit and be wrong by the terms that the fit lacks.
bool is_stable(std::span<const BeadPoint> points, int terms, const BeadLimit& all) {
  if (points.size() < static_cast<std::size_t>(terms) + 2 || !(all.limit.error > 0.0)) return true;
  const BeadLimit fewer = fit(points.subspan(1), terms, true);
  // The difference of estimates from all and from some of the means.
  const double square = std::pow(fewer.limit.error, 2) - std::pow(all.limit.error, 2);
  return std::abs(fewer.limit.mean - all.limit.mean) <= 1.5 * std::sqrt(std::max(square, 0.0));
}

}  // namespace

OrderFit fit_order(std::span<const double> steps, std::span<const double> errors) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (std::isfinite(errors[k]) && errors[k] > 0.0) points.push_back({steps[k], errors[k]});
  }
  std::ranges::sort(points, {}, &Point::step);
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
  return {fit_line(x, y).slope, count > 1 ? high - low : OrderFit::kNone, count + 1,
          points.front().step, points[count].step};
}

LineFit fit_line(std::span<const double> x, std::span<const double> y) {
  if (x.empty()) return {};
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
  const double slope = xx > 0.0 ? xy / xx : 0.0;
  return {slope, y_mean - slope * x_mean, std::sqrt(yy / n)};
}

double BeadLimit::at(double beads) const {
  const double x = 1.0 / (beads * beads);
  return limit.mean + x * (c1 + x * c2);
}

BeadLimit bead_limit(std::span<const int> beads, std::span<const MeanError> means) {
  std::vector<BeadPoint> points;
  for (std::size_t k = 0; k < beads.size(); ++k) {
    if (std::isfinite(means[k].mean)) points.push_back({beads[k], means[k]});
  }
  if (points.size() < 2) return {};
  std::ranges::sort(points, {}, &BeadPoint::beads);
  const bool errors_known = std::ranges::all_of(points, has_error);
  std::span<const BeadPoint> used(points);
  BeadLimit result = fit(used, 1, errors_known);
  const auto is_accepted = [&](int terms) {
    return agrees_with_errors(result) && is_stable(used, terms, result);
  };
  if (is_accepted(1) || used.size() < 3) return result;
  result = fit(used, 2, errors_known);
  // Three means determine two terms, which are accepted.
  while (!is_accepted(2)) {
    used = used.subspan(1);
    result = fit(used, 2, errors_known);
  }
  return result;
}

}  // namespace tarn::analysis
