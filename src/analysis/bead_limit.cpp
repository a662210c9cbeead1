#include "tarn/analysis/bead_limit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Dense>

namespace tarn::analysis {
namespace {

struct Point {
  int beads;
  MeanError mean;
};

bool has_error(const Point& point) {
  return std::isfinite(point.mean.error) && point.mean.error > 0.0;
}

/// The fit with a number of terms in 1/P^2, to means whose errors are known or all unknown.
BeadLimit fit(std::span<const Point> points, int terms, bool errors_known) {
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixXd design(n, terms + 1);
  Eigen::VectorXd right(n);
  const double fewest = points.front().beads;  // powers of (fewest / P)^2 are at most 1
  for (Eigen::Index k = 0; k < n; ++k) {
    const Point& point = points[static_cast<std::size_t>(k)];
    const double weight = errors_known ? 1.0 / point.mean.error : 1.0;
    const double x = (fewest / point.beads) * (fewest / point.beads);
    double power = weight;
    for (int term = 0; term <= terms; ++term, power *= x) design(k, term) = power;
    right(k) = weight * point.mean.mean;
  }
  const Eigen::VectorXd solution = design.colPivHouseholderQr().solve(right);
  BeadLimit result;
  result.limit = {solution(0), 0.0};
  if (errors_known) {
    const Eigen::MatrixXd covariance = (design.transpose() * design).inverse();
    result.limit.error = std::sqrt(covariance(0, 0));
    result.chi2 = (design * solution - right).squaredNorm();
  }
  const double square = fewest * fewest;
  result.c1 = solution(1) * square;
  if (terms > 1) result.c2 = solution(2) * square * square;
  result.points = points.size();
  result.degrees_of_freedom = points.size() - static_cast<std::size_t>(terms) - 1;
  return result;
}

/// Whether chi^2 is below its mean plus two standard deviations: the probability of more is about
/// 5 % for one to three degrees of freedom.
bool is_accepted(const BeadLimit& fit) {
  const auto freedom = static_cast<double>(fit.degrees_of_freedom);
  return fit.degrees_of_freedom == 0 || fit.chi2 <= freedom + 2.0 * std::sqrt(2.0 * freedom);
}

}  // namespace

double BeadLimit::at(double beads) const {
  const double x = 1.0 / (beads * beads);
  return limit.mean + x * (c1 + x * c2);
}

BeadLimit bead_limit(std::span<const int> beads, std::span<const MeanError> means) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < beads.size(); ++k) {
    if (std::isfinite(means[k].mean)) points.push_back({beads[k], means[k]});
  }
  if (points.size() < 2) return {};
  std::ranges::sort(points, {}, &Point::beads);
  const bool errors_known = std::ranges::all_of(points, has_error);
  std::span<const Point> used(points);
  BeadLimit result = fit(used, 1, errors_known);
  if (!is_accepted(result)) result = fit(used, 2, errors_known);
  // Three means determine two terms, which are accepted.
  while (!is_accepted(result)) {
    used = used.subspan(1);
    result = fit(used, 2, errors_known);
  }
  return result;
}

}  // namespace tarn::analysis
