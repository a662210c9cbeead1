#include "error_cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "tarn/analysis/histogram.hpp"

namespace tarn {
namespace {

/// Errors below this share of the noise are drawn there.
constexpr double kLowest = 0.5;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

const analysis::MeanError& error_of(const CostPoint& point, CostOf what) {
  return what == CostOf::potential ? point.potential : point.distance;
}

double known_or_zero(double error) { return std::isfinite(error) ? error : 0.0; }

/// @param moved out: gets the points that are drawn at `lowest` and not where they are
io::Series curve_of(const std::vector<CostPoint>& points, std::size_t number,
                    const CostCurve& curve, CostOf what, double lowest, io::Series& moved) {
  io::Series s;
  s.label = curve.label;
  s.colour = curve.colour;
  s.dashed = curve.dashed;
  s.style = io::Series::Style::marked_line;
  std::vector<double> errors, cost_errors;
  for (const CostPoint& point : points) {
    if (point.curve != number || !point.survived) continue;
    const analysis::MeanError& e = error_of(point, what);
    s.x.push_back(point.us_per_ps);
    s.y.push_back(std::fabs(e.mean));
    errors.push_back(known_or_zero(e.error));
    cost_errors.push_back(point.us_per_ps_err);
    if (curve.marked) s.marks.push_back(fmt::format("{:g}", point.timestep_fs));
  }
  s.set_error(errors);
  s.set_x_error(cost_errors);
  for (std::size_t k = 0; k < s.x.size(); ++k) {
    if (s.y[k] >= lowest) continue;
    moved.x.push_back(s.x[k]);
    moved.y.push_back(lowest);
  }
  for (std::vector<double>* values : {&s.y, &s.low, &s.high}) {
    for (double& y : *values) y = std::max(y, lowest);
  }
  return s;
}

/// Of the total variation, by leaving out one group of replicas of `a` after the other; those that
/// hold no replica are none. Not known of fewer than two.
double jackknife_error(const Distances& a, const Distances& b) {
  std::vector<double> without;
  for (const std::vector<double>& group : a.of_groups) {
    const bool is_empty =
        std::all_of(group.begin(), group.end(), [](double count) { return count == 0.0; });
    if (is_empty) continue;
    std::vector<double> rest = a.counts;
    for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= group[k];
    without.push_back(analysis::total_variation(rest, b.counts));
  }
  const double n = static_cast<double>(without.size());
  if (n < 2.0) return kUnknown;
  double mean = 0.0, squares = 0.0;
  for (double d : without) mean += d / n;
  for (double d : without) squares += (d - mean) * (d - mean);
  return std::sqrt((n - 1.0) / n * squares);
}

}  // namespace

namespace {

/// Steps of an interval that is `every` of the steps of another deck.
std::int64_t steps_in(std::int64_t every, const Deck& of, const Deck& own) {
  const double interval_fs = static_cast<double>(every) * of.integrator.timestep_fs;
  return std::max<std::int64_t>(1, std::llround(interval_fs / own.integrator.timestep_fs));
}

}  // namespace

void correlate_as_often(const Deck& deck, Deck& own) {
  if (own.correlation) own.correlation->every = steps_in(own.correlation->every, deck, own);
}

Deck with_scheme_and_step(const Deck& deck, const std::string& scheme, double timestep_fs) {
  Deck own = with_scheme(deck, fmt::format("{}:timestep_fs={}", scheme, timestep_fs));
  if (!own.energies) own.energies = ObserveEnergies{};
  if (!own.rdf) own.rdf = ObserveRdf{};
  own.energies->every = steps_in(own.energies->every, deck, own);
  own.rdf->every = steps_in(own.rdf->every, deck, own);
  correlate_as_often(deck, own);
  return own;
}

analysis::MeanError total_variation_of(const Distances& own, const Distances& reference) {
  const double all = analysis::total_variation(own.counts, reference.counts);
  return {all, std::hypot(jackknife_error(own, reference), jackknife_error(reference, own))};
}

double noise_of_total_variation(const Distances& a, const Distances& b, double width_A) {
  const auto is_known = [](const Distances& d) {
    return std::any_of(d.error_per_A.begin(), d.error_per_A.end(),
                       [](double error) { return error > 0.0; });
  };
  if (!is_known(a) || !is_known(b)) return kUnknown;
  double sum = 0.0;
  for (std::size_t k = 0; k < a.error_per_A.size(); ++k) {
    sum += std::hypot(a.error_per_A[k], b.error_per_A[k]);
  }
  return 0.5 * width_A * std::sqrt(2.0 / std::numbers::pi) * sum;
}

io::Plot error_cost_plot(const std::vector<CostPoint>& points, const std::vector<CostCurve>& curves,
                         CostOf what) {
  io::Plot p;
  p.x_label = "time for a picosecond of one cluster (µs)";
  p.y_label =
      what == CostOf::potential ? "|error of ⟨V₀⟩| (kcal/mol)" : "OO histogram, total variation";
  p.log_x = p.log_y = true;
  p.height_pixels = 420;
  double low = 1e300, high = 0.0, noise = 0.0, count = 0.0, top = 0.0;
  for (const CostPoint& point : points) {
    if (!point.survived) continue;
    // Of the bar of a cost that is hardly known, no more than is worth its room.
    const double bar = std::min(known_or_zero(point.us_per_ps_err), 0.5 * point.us_per_ps);
    low = std::min(low, point.us_per_ps - bar);
    high = std::max(high, point.us_per_ps + bar);
    const double of_point =
        what == CostOf::potential ? point.potential.error : point.distance_of_noise;
    noise += known_or_zero(of_point);
    count += 1.0;
    top = std::max(top, std::fabs(error_of(point, what).mean));
  }
  if (!(top > 0.0)) return p;
  noise /= count;
  p.x_range = {{0.85 * low, 1.2 * high}};
  if (noise > 0.0) p.y_range = {{0.4 * noise, std::max(2.0 * top, 4.0 * noise)}};
  io::Series moved;
  for (std::size_t curve = 0; curve < curves.size(); ++curve) {
    p.series.push_back(curve_of(points, curve, curves[curve], what, kLowest * noise, moved));
  }
  io::Series& floor = p.series.emplace_back();
  floor.label = "noise";
  floor.x = {0.85 * low, 1.2 * high};
  floor.y = {noise, noise};
  floor.colour = "#888888";
  floor.dashed = true;
  if (!moved.x.empty()) {
    moved.label = "less than half of the noise, drawn at it";
    moved.style = io::Series::Style::points;
    moved.colour = "#bbbbbb";
    p.series.push_back(std::move(moved));
  }
  return p;
}

bool as_fast_within_errors(const CostPoint& faster, const CostPoint& slower) {
  return slower.us_per_ps - faster.us_per_ps <=
         2.0 * std::hypot(faster.us_per_ps_err, slower.us_per_ps_err);
}

bool is_within(const CostPoint& point, CostOf what, double most) {
  const analysis::MeanError& e = error_of(point, what);
  return point.survived && std::fabs(e.mean) + 2.0 * e.error < most;
}

}  // namespace tarn
