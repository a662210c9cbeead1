#include "error_cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "analysis/rdf.hpp"

namespace tarn {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

analysis::MeanError error_of(const SchemeResult& s, ErrorMeasure measure) {
  if (measure == ErrorMeasure::potential) return s.potential_difference_kcal_per_mol;
  return {s.oo_total_variation, s.oo_total_variation_err};
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

bool costs_agree_within_errors(const SchemeResult& faster, const SchemeResult& slower) {
  return slower.us_per_ps - faster.us_per_ps <=
         2.0 * std::hypot(faster.us_per_ps_err, slower.us_per_ps_err);
}

bool is_error_below(const SchemeResult& scheme, ErrorMeasure measure, double limit) {
  const analysis::MeanError e = error_of(scheme, measure);
  return scheme.blow_ups.empty() && std::fabs(e.mean) + 2.0 * e.error < limit;
}

double times_longer_to_resolve(const SchemeResult& scheme, ErrorMeasure measure, double limit) {
  const analysis::MeanError e = error_of(scheme, measure);
  // Equal distributions have a distance, too.
  const double noise =
      2.0 * e.error + (measure == ErrorMeasure::distance ? scheme.oo_total_variation_noise : 0.0);
  if (is_error_below(scheme, measure, limit) || std::fabs(e.mean) - noise > limit) return 1.0;
  if (!std::isfinite(noise)) return std::numeric_limits<double>::infinity();
  return std::max(1.0, 4.0 * noise * noise / (limit * limit));
}

}  // namespace tarn
