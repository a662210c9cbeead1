#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "analysis/rdf.hpp"
#include "deck/system_limits.hpp"
#include "run/progress.hpp"
#include "scheme_run.hpp"
#include "tarn/core/units.hpp"

namespace tarn {
namespace {

constexpr double kNone = SchemeResult::kNone;

/// Replicas that are all lost say nothing about the cost or the averages of a scheme.
void clear_averages(SchemeResult& s) {
  for (double SchemeResult::*number :
       {&SchemeResult::steps_per_second, &SchemeResult::ns_per_day, &SchemeResult::pair_share,
        &SchemeResult::bond_share, &SchemeResult::noise_share, &SchemeResult::rest_share,
        &SchemeResult::iterations_per_step, &SchemeResult::autocorrelation_ps,
        &SchemeResult::independent_samples_per_second, &SchemeResult::oo_total_variation,
        &SchemeResult::oo_kolmogorov_smirnov, &SchemeResult::oo_mean_distance_A,
        &SchemeResult::us_per_ps, &SchemeResult::us_per_ps_err,
        &SchemeResult::oo_total_variation_err, &SchemeResult::oo_total_variation_noise}) {
    s.*number = kNone;
  }
  for (analysis::MeanError SchemeResult::*mean :
       {&SchemeResult::temperature_K, &SchemeResult::translation_K, &SchemeResult::rotation_K,
        &SchemeResult::bond_K, &SchemeResult::potential_kcal_per_mol,
        &SchemeResult::potential_difference_kcal_per_mol}) {
    s.*mean = {kNone, kNone};
  }
}

void add_speed(const SchemeRun& run, SchemeResult& s) {
  if (run.wall_seconds > 0.0) {
    s.steps_per_second = static_cast<double>(run.replica_steps()) / run.wall_seconds;
  }
  s.ns_per_day = ns_per_day(s.steps_per_second, s.timestep_fs);
  s.us_per_ps = 1e9 / (s.steps_per_second * s.timestep_fs);
  const analysis::Blocking slices = run.us_per_ps.result();
  s.us_per_ps_err = slices.error > 0.0 ? slices.error : kNone;
}

void add_engine_report(const EngineReport& r, SchemeResult& s) {
  const double seconds = r.pair_seconds + r.bond_seconds + r.noise_seconds + r.rest_seconds;
  if (seconds > 0.0) {
    s.pair_share = r.pair_seconds / seconds;
    s.bond_share = r.bond_seconds / seconds;
    s.noise_share = r.noise_seconds / seconds;
    s.rest_share = r.rest_seconds / seconds;
  }
  if (r.molecule_steps > 0) {
    s.iterations_per_step =
        static_cast<double>(r.constraint_iterations) / static_cast<double>(r.molecule_steps);
  }
}

void add_averages(const SchemeRun& run, SchemeResult& s) {
  s.temperature_K = mean_and_error(run.temperature);
  s.translation_K = mean_and_error(run.translation);
  s.rotation_K = mean_and_error(run.rotation);
  s.bond_K = mean_and_error(run.bond);
  s.potential_kcal_per_mol = mean_and_error(run.potential);
  const double steps_per_sample =
      2.0 * run.potential.result().autocorrelation_time * static_cast<double>(run.sample_every);
  s.autocorrelation_ps = 0.5 * steps_per_sample * s.timestep_fs * 1e-3;
  s.independent_samples_per_second = s.steps_per_second / steps_per_sample;
}

void add_conservation(const SchemeRun& run, SchemeResult& s) {
  const EnergyConservation::Result r = run.conservation.result();
  const double interval_ps = static_cast<double>(run.sample_every) * s.timestep_fs * 1e-3;
  s.energy_drift_kcal_per_mol_per_ps = {r.drift.mean / interval_ps, r.drift.error / interval_ps};
  s.energy_rms_kcal_per_mol = r.rms;
  s.energy_max_kcal_per_mol = r.max;
  s.momentum_max_Da_A_per_ps = r.momentum_max / units::picoseconds_per_akma;
  s.angular_momentum_max_Da_A2_per_ps = r.angular_max / units::picoseconds_per_akma;
}

/// Differences from the first run; NaN if it has lost all replicas.
void add_differences(const SchemeRun& run, const SchemeRun& first, SchemeResult& s) {
  s.oo_total_variation = s.oo_kolmogorov_smirnov = kNone;
  s.oo_total_variation_err = s.oo_total_variation_noise = kNone;
  s.potential_difference_kcal_per_mol = {kNone, kNone};
  if (first.has_lost_all_replicas()) return;
  const bool is_first = &run == &first;
  const DistanceHistogram& histogram = run.histograms[kOO];
  const DistanceHistogram& first_histogram = first.histograms[kOO];
  const ObserveRdf& rdf = *first.deck.rdf;
  const analysis::MeanError distance =
      is_first ? analysis::MeanError{} : total_variation_and_error(histogram, first_histogram);
  s.oo_total_variation = distance.mean;
  s.oo_total_variation_err = distance.error;
  s.oo_total_variation_noise =
      total_variation_noise(histogram, first_histogram, rdf.r_max_A / rdf.bins);
  s.oo_kolmogorov_smirnov = analysis::kolmogorov_smirnov(first_histogram.counts, histogram.counts);
  const analysis::MeanError reference = mean_and_error(first.potential);
  s.potential_difference_kcal_per_mol = {
      s.potential_kcal_per_mol.mean - reference.mean,
      is_first ? 0.0 : std::hypot(s.potential_kcal_per_mol.error, reference.error)};
}

void add_mean_distance(const SchemeRun& run, SchemeResult& s) {
  const ObserveRdf& rdf = *run.deck.rdf;
  const std::vector<double>& counts = run.histograms[kOO].counts;
  const double pairs = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (!(pairs > 0.0)) return;
  const std::vector<double> centres_A = analysis::bin_centres_A(rdf.r_max_A, rdf.bins);
  s.oo_mean_distance_A =
      std::inner_product(counts.begin(), counts.end(), centres_A.begin(), 0.0) / pairs;
}

/// The fastest scheme whose error is below a limit, and those that are equally fast. There is none
/// if a faster one may be as accurate.
CheapestScheme cheapest_scheme(const std::vector<SchemeResult>& schemes, std::string within,
                               ErrorMeasure measure, double limit) {
  CheapestScheme best;
  best.within = std::move(within);
  std::vector<const SchemeResult*> good;
  for (std::size_t k = 1; k < schemes.size(); ++k) {
    if (is_error_below(schemes[k], measure, limit)) good.push_back(&schemes[k]);
  }
  std::ranges::stable_sort(good, {}, &SchemeResult::us_per_ps);
  for (std::size_t k = 1; k < schemes.size(); ++k) {
    const SchemeResult& s = schemes[k];
    const bool is_faster = good.empty() || (s.us_per_ps < good[0]->us_per_ps &&
                                            !costs_agree_within_errors(s, *good[0]));
    if (!s.blow_ups.empty() || !is_faster) continue;
    best.times_longer = std::max(best.times_longer, times_longer_to_resolve(s, measure, limit));
  }
  if (good.empty() || best.times_longer > 1.0) return best;
  const SchemeResult& fastest = *good.front();
  best.label = fastest.label;
  best.us_per_ps = fastest.us_per_ps;
  best.us_per_ps_err = fastest.us_per_ps_err;
  for (std::size_t k = 1; k < good.size(); ++k) {
    if (costs_agree_within_errors(fastest, *good[k])) best.ties.push_back(good[k]->label);
  }
  return best;
}

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
  if (n < 2.0) return kNone;
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

SchemeResult scheme_result(const SchemeRun& run, const SchemeRun& first) {
  SchemeResult s;
  s.label = run.label;
  s.steps = run.engine->step();
  s.timestep_fs = run.deck.integrator.timestep_fs;
  s.beads = beads_of(run.deck);
  if (run.deck.path_integral) s.frequencies = run.deck.path_integral->frequencies;
  s.blow_ups = run.engine->blow_ups();
  s.constraint_max_A2 = run.constraint_max_A2;
  if (run.evaporation) {
    s.departed_replicas = static_cast<std::int64_t>(run.evaporation->events().size());
  }
  if (run.has_lost_all_replicas()) {
    clear_averages(s);
    return s;
  }
  if (run.correlations) {
    s.correlation_times = run.correlations->times();
    s.correlation_interval_fs = run.correlation_interval_fs();
  }
  if (run.rings) {
    s.rings = run.rings->result(static_cast<double>(run.sample_every) * s.timestep_fs * 1e-3);
  }
  add_speed(run, s);
  add_engine_report(run.engine->report(), s);
  add_averages(run, s);
  if (!has_thermostat(run.deck)) add_conservation(run, s);
  add_differences(run, first, s);
  add_mean_distance(run, s);
  return s;
}

const AveragedQuantity* SchemeResult::correlation_time(std::string_view quantity) const {
  const auto found = std::ranges::find(correlation_times, quantity, &AveragedQuantity::quantity);
  return found == correlation_times.end() ? nullptr : &*found;
}

std::vector<CheapestScheme> cheapest_schemes(const std::vector<SchemeResult>& schemes,
                                             int molecules) {
  std::vector<CheapestScheme> all;
  if (schemes.empty()) return all;
  const double thermal =
      3.0 * (molecules - 1) * units::boltzmann_kcal_per_mol_K * schemes.front().temperature_K.mean;
  for (const double share : {0.3, 0.1, 0.03, 0.01}) {
    if (!(thermal > 0.0)) break;
    all.push_back(cheapest_scheme(schemes, fmt::format("<V0> to {:g} % of 3(N-1)kT", 100.0 * share),
                                  ErrorMeasure::potential, share * thermal));
  }
  for (const double limit : {0.05, 0.02, 0.01}) {
    all.push_back(cheapest_scheme(schemes, fmt::format("OO histogram to {:g}", limit),
                                  ErrorMeasure::distance, limit));
  }
  return all;
}

std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes,
                                         const std::vector<Variant>& variants) {
  std::vector<SchemeBeadLimit> limits;
  for (std::size_t curve = 0; curve <= variants.back().curve; ++curve) {
    std::string label;
    std::vector<const SchemeResult*> of_curve;
    for (std::size_t k = 0; k < schemes.size(); ++k) {
      const SchemeResult& s = schemes[k];
      if (variants[k].curve != curve || s.rings.empty() || s.beads == 1) continue;
      if (s.frequencies == RingFrequencies::economised) continue;
      label = variants[k].curve_label;
      of_curve.push_back(&s);
    }
    if (of_curve.empty()) continue;
    std::ranges::sort(of_curve, {},
                      [](const SchemeResult* s) { return std::pair(s->beads, s->timestep_fs); });
    std::vector<int> beads;
    for (const SchemeResult* s : of_curve) beads.push_back(s->beads);
    for (std::size_t column = 0; column < bead_columns().size(); ++column) {
      // Both estimators of the energy have the same mean; the errors of this one grow with P, so
      // that few beads would determine its limit.
      const std::string quantity(bead_columns()[column].name);
      if (quantity == "energy_primitive_kcal_per_mol") continue;
      std::vector<analysis::MeanError> means;
      for (const SchemeResult* s : of_curve) {
        means.push_back({s->rings[column].mean, s->rings[column].error});
      }
      limits.push_back({label, quantity, analysis::bead_limit(beads, means)});
    }
  }
  return limits;
}

std::vector<SchemeOrder> energy_orders(const std::vector<SchemeResult>& schemes,
                                       const std::vector<Variant>& variants) {
  std::map<std::size_t, std::vector<std::size_t>> curves;
  for (std::size_t k = 0; k < schemes.size(); ++k) curves[variants[k].curve].push_back(k);
  std::vector<SchemeOrder> orders;
  for (const auto& [curve, points] : curves) {
    std::vector<double> steps_fs, changes;
    for (const std::size_t k : points) {
      if (!schemes[k].blow_ups.empty()) continue;
      steps_fs.push_back(schemes[k].timestep_fs);
      changes.push_back(schemes[k].energy_rms_kcal_per_mol.mean);
    }
    orders.push_back(
        {variants[points.front()].curve_label, "energy", analysis::fit_order(steps_fs, changes)});
  }
  return orders;
}

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
  if (!is_known(a) || !is_known(b)) return kNone;
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

std::string order_text(const analysis::OrderFit& fit) {
  if (!std::isfinite(fit.order)) return "-";
  return fmt::format("{:.2f}{}", fit.order, fit.points < 3 ? "?" : "");
}

}  // namespace tarn
