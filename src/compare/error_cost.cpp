#include "error_cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "tarn/analysis/rdf.hpp"

namespace tarn {
namespace {

/// Errors below this part of the noise are drawn at this part of the noise.
constexpr double kLowestDrawn = 0.5;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

const analysis::MeanError& error_of(const CostPoint& point, ErrorMeasure measure) {
  return measure == ErrorMeasure::potential ? point.potential : point.distance;
}

double known_or_zero(double error) { return std::isfinite(error) ? error : 0.0; }

/// @param raised out: receives the points below `lowest`, which are drawn at `lowest`
io::Series curve_of(const std::vector<CostPoint>& points, std::size_t number,
                    const CostCurve& curve, ErrorMeasure measure, double lowest,
                    io::Series& raised) {
  io::Series s;
  s.label = curve.label;
  s.colour = curve.colour;
  s.dashed = curve.dashed;
  s.style = io::Series::Style::marked_line;
  std::vector<double> errors, cost_errors;
  for (const CostPoint& point : points) {
    if (point.curve != number || !point.survived) continue;
    const analysis::MeanError& e = error_of(point, measure);
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
    raised.x.push_back(s.x[k]);
    raised.y.push_back(lowest);
  }
  for (std::vector<double>* values : {&s.y, &s.low, &s.high}) {
    for (double& y : *values) y = std::max(y, lowest);
  }
  return s;
}

/// Jackknife error of the total variation distance, leaving out one group of replicas of `a` at a
/// time. Groups without replicas are ignored; NaN for fewer than two groups.
double jackknife_error(const DistanceHistogram& a, const DistanceHistogram& b) {
  std::vector<double> without;
  for (const std::vector<double>& group : a.group_counts) {
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

/// The number of steps of `variant` closest in time to `every` steps of `deck`.
std::int64_t matching_interval(std::int64_t every, const Deck& deck, const Deck& variant) {
  const double interval_fs = static_cast<double>(every) * deck.integrator.timestep_fs;
  return std::max<std::int64_t>(1, std::llround(interval_fs / variant.integrator.timestep_fs));
}

}  // namespace

void match_correlation_interval(const Deck& deck, Deck& variant) {
  if (!variant.correlation) return;
  variant.correlation->every = matching_interval(variant.correlation->every, deck, variant);
}

Deck with_scheme_and_step(const Deck& deck, const std::string& scheme, double timestep_fs) {
  Deck variant = with_scheme(deck, fmt::format("{}:timestep_fs={}", scheme, timestep_fs));
  if (!variant.energies) variant.energies = ObserveTable{};
  if (!variant.rdf) variant.rdf = ObserveRdf{};
  variant.energies->every = matching_interval(variant.energies->every, deck, variant);
  variant.rdf->every = matching_interval(variant.rdf->every, deck, variant);
  match_correlation_interval(deck, variant);
  return variant;
}

analysis::MeanError total_variation_and_error(const DistanceHistogram& histogram,
                                              const DistanceHistogram& reference) {
  const double all = analysis::total_variation(histogram.counts, reference.counts);
  return {all,
          std::hypot(jackknife_error(histogram, reference), jackknife_error(reference, histogram))};
}

double total_variation_noise(const DistanceHistogram& a, const DistanceHistogram& b,
                             double width_A) {
  const auto is_known = [](const DistanceHistogram& d) {
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
                         ErrorMeasure measure) {
  io::Plot p;
  p.x_label = "time per picosecond of one cluster (µs)";
  p.y_label = measure == ErrorMeasure::potential ? "|error of ⟨V₀⟩| (kcal/mol)"
                                                 : "OO histogram, total variation";
  p.log_x = p.log_y = true;
  p.height_pixels = 420;
  double low = 1e300, high = 0.0, noise = 0.0, count = 0.0, top = 0.0;
  for (const CostPoint& point : points) {
    if (!point.survived) continue;
    // Limit the error bar of an uncertain cost, which would otherwise dominate the axis.
    const double bar = std::min(known_or_zero(point.us_per_ps_err), 0.5 * point.us_per_ps);
    low = std::min(low, point.us_per_ps - bar);
    high = std::max(high, point.us_per_ps + bar);
    const double point_noise =
        measure == ErrorMeasure::potential ? point.potential.error : point.distance_noise;
    noise += known_or_zero(point_noise);
    count += 1.0;
    top = std::max(top, std::fabs(error_of(point, measure).mean));
  }
  if (!(top > 0.0)) return p;
  noise /= count;
  p.x_range = {{0.85 * low, 1.2 * high}};
  if (noise > 0.0) p.y_range = {{0.4 * noise, std::max(2.0 * top, 4.0 * noise)}};
  io::Series raised;
  for (std::size_t curve = 0; curve < curves.size(); ++curve) {
    p.series.push_back(
        curve_of(points, curve, curves[curve], measure, kLowestDrawn * noise, raised));
  }
  io::Series& floor = p.series.emplace_back();
  floor.label = "noise";
  floor.x = {0.85 * low, 1.2 * high};
  floor.y = {noise, noise};
  floor.colour = "#888888";
  floor.dashed = true;
  if (!raised.x.empty()) {
    raised.label = "below half of the noise";
    raised.style = io::Series::Style::points;
    raised.colour = "#bbbbbb";
    p.series.push_back(std::move(raised));
  }
  return p;
}

bool costs_agree_within_errors(const CostPoint& faster, const CostPoint& slower) {
  return slower.us_per_ps - faster.us_per_ps <=
         2.0 * std::hypot(faster.us_per_ps_err, slower.us_per_ps_err);
}

bool is_error_below(const CostPoint& point, ErrorMeasure measure, double limit) {
  const analysis::MeanError& e = error_of(point, measure);
  return point.survived && std::fabs(e.mean) + 2.0 * e.error < limit;
}

double times_longer_to_resolve(const CostPoint& point, ErrorMeasure measure, double limit) {
  const analysis::MeanError& e = error_of(point, measure);
  // Equal distributions have a distance, too.
  const double noise =
      2.0 * e.error + (measure == ErrorMeasure::distance ? point.distance_noise : 0.0);
  if (is_error_below(point, measure, limit) || std::fabs(e.mean) - noise > limit) return 1.0;
  if (!std::isfinite(noise)) return std::numeric_limits<double>::infinity();
  return std::max(1.0, 4.0 * noise * noise / (limit * limit));
}

}  // namespace tarn
