#include "scheme_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <ranges>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/rdf.hpp"
#include "deck/notes.hpp"
#include "deck/system_limits.hpp"
#include "io/words.hpp"
#include "run/progress.hpp"
#include "run/run_messages.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/start_state.hpp"

namespace tarn {
namespace {

constexpr std::string_view kStepKey = ":timestep_fs=";

/// @throws InputError if a value is given twice
template <class T>
void refuse_repetitions(const std::vector<T>& values, const char* each) {
  if (std::set<T>(values.begin(), values.end()).size() == values.size()) return;
  throw InputError(fmt::format("{} must be given only once", each));
}

/// @throws InputError
void check_request(const Deck& deck, const std::vector<std::string>& schemes,
                   const CompareOptions& options) {
  if (!options.reference.empty() && options.steps.empty()) {
    throw InputError(
        "--reference requires --steps; without --steps, the first scheme is the reference");
  }
  if (schemes.empty()) {
    throw InputError("no schemes to compare: list them, such as --schemes shake,zss-stiff");
  }
  if (std::ranges::find(schemes, "") != schemes.end()) {
    throw InputError("--schemes contains an empty scheme: remove the extra comma");
  }
  refuse_repetitions(schemes, "--schemes: each scheme");
  if (deck.exchange) {
    throw InputError(
        deck.path +
        ": tarn compare does not support replica exchange; remove it with --unset exchange");
  }
  if (!options.beads.empty() && !options.steps.empty()) {
    throw InputError("--beads cannot be combined with --steps: compare one of them at a time");
  }
  refuse_repetitions(options.beads, "--beads: each number");
  refuse_repetitions(options.free_rings, "--free-ring: each flow");
  refuse_repetitions(options.frequencies, "--frequencies: each kind");
  for (const double step : options.steps) {
    if (step > 0.0 && std::isfinite(step)) continue;
    throw InputError(fmt::format("--steps {}: a step must be greater than 0 fs", step));
  }
  refuse_repetitions(options.steps, "--steps: each step");
  for (const std::string& scheme : schemes) {
    if (options.steps.empty() || scheme.find(kStepKey) == std::string::npos) continue;
    throw InputError(fmt::format(
        "--schemes {}: --steps sets the steps of all schemes; omit timestep_fs here", scheme));
  }
  if (!options.reference.empty() && !has_thermostat(deck)) {
    throw InputError(deck.path +
                     ": without a thermostat, --steps compares energy conservation and needs no "
                     "reference; omit --reference, or add a [thermostat] to the deck");
  }
}

/// A deck with one flow of the free ring and kind of frequencies, and the end of its labels.
struct RingDeck {
  Deck deck;
  std::string suffix;
};

/// The deck with each flow and kind of frequencies, or as it is.
/// @throws InputError
std::vector<RingDeck> decks_by_ring(const Deck& deck, const CompareOptions& options) {
  std::vector<RingDeck> decks{{deck, ""}};
  const auto vary = [&](const std::vector<std::string>& choices, const std::string& key,
                        const std::string& option, Deck (*with)(const Deck&, const std::string&)) {
    if (choices.empty()) return;
    if (options.beads.empty() && beads_of(deck) == 1) {
      throw InputError(option + " needs a deck with [path_integral] and several beads");
    }
    for (const RingDeck& ring : std::exchange(decks, {})) {
      for (const std::string& choice : choices) {
        decks.push_back({with(ring.deck, choice), ring.suffix + ":" + key + "=" + choice});
      }
    }
  };
  vary(options.frequencies, "frequencies", "--frequencies", with_frequencies);
  vary(options.free_rings, "free_ring", "--free-ring", with_free_ring);
  return decks;
}

Variant with_step(const Deck& deck, const std::string& scheme, const std::string& curve,
                  double timestep_fs) {
  return {fmt::format("{}{}{}", curve, kStepKey, timestep_fs),
          with_scheme(deck, fmt::format("{}{}{}", scheme, kStepKey, timestep_fs)), curve};
}

/// Whether the deck can start twice as many replicas, with the same share in each bath.
bool can_double_replicas(const Deck& deck) {
  if (deck.system.replicas % static_cast<int>(bath_temperatures_K(deck).size()) != 0) return false;
  if (deck.system.replicas > kMaxReplicas / 2) return false;
  return !deck.system.state || read_start_state(deck).state.replicas() == 1;
}

/// The reference of CompareOptions::steps. @throws InputError
Variant reference_of(const Deck& deck, const CompareOptions& options) {
  std::string scheme = options.reference;
  if (scheme.empty()) scheme = is_flexible(deck) ? "verlet" : "settle";
  double step = 0.5 * std::ranges::min(options.steps);
  if (const std::size_t at = scheme.find(kStepKey); at != std::string::npos) {
    const auto given = io::finite_number(std::string_view(scheme).substr(at + kStepKey.size()));
    if (!given || *given <= 0.0) {
      throw InputError(fmt::format(
          "--reference {}: timestep_fs must be the last key and a number greater than 0 fs",
          scheme));
    }
    step = *given;
    scheme.erase(at);
  }
  Variant reference = with_step(deck, scheme, scheme, step);
  reference.label = "reference " + reference.label;
  reference.curve = "reference";
  // The noise must be independent of the other variants, which share theirs if their steps are
  // equal. A distant seed also avoids that of the run that provided the initial state, which is
  // often the next number.
  constexpr std::uint64_t kFar = 1'000'003;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t& seed = reference.deck.system.seed;
  seed = seed > kLargest - kFar ? seed - kFar : seed + kFar;
  // Use more replicas rather than a longer run: means over a different time window differ if the
  // run is not equilibrated.
  if (can_double_replicas(reference.deck)) reference.deck.system.replicas *= 2;
  return reference;
}

/// Changes a sampling interval to the nearest multiple of the step of a variant.
void match_interval(std::int64_t& every, const Deck& deck, const Deck& variant) {
  const double interval_fs = static_cast<double>(every) * deck.integrator.timestep_fs;
  every = std::max<std::int64_t>(1, std::llround(interval_fs / variant.integrator.timestep_fs));
}

// --- runs
// -------------------------------------------------------------------------------------------

constexpr double kNone = SchemeResult::kNone;

/// The averages over all replicas, and their places in the result.
constexpr std::pair<double Energies::*, analysis::MeanError SchemeResult::*> kMeans[] = {
    {&Energies::temperature_K, &SchemeResult::temperature_K},
    {&Energies::temperature_translation_K, &SchemeResult::translation_K},
    {&Energies::temperature_rotation_K, &SchemeResult::rotation_K},
    {&Energies::temperature_bond_K, &SchemeResult::bond_K},
    {&Energies::potential_kcal_per_mol, &SchemeResult::potential_kcal_per_mol}};

analysis::MeanError mean_and_error(const analysis::PooledBlocking& quantity) {
  const analysis::Blocking b = quantity.result();
  return {b.mean, b.error};
}

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

void add_distances(const SchemeRun& run, const SchemeRun& first, SchemeResult& s) {
  const ObserveRdf& rdf = *run.deck.rdf;
  const DistanceHistogram& histogram = run.histograms[kOO];
  const std::vector<double>& counts = histogram.counts;
  const double pairs = std::accumulate(counts.begin(), counts.end(), 0.0);
  const std::vector<double> centres_A = analysis::bin_centres_A(rdf.r_max_A, rdf.bins);
  s.oo_mean_distance_A =
      pairs > 0.0 ? std::inner_product(counts.begin(), counts.end(), centres_A.begin(), 0.0) / pairs
                  : 0.0;
  if (first.has_lost_all_replicas()) return;
  const DistanceHistogram& reference = first.histograms[kOO];
  const analysis::MeanError distance =
      &run == &first ? analysis::MeanError{} : total_variation_and_error(histogram, reference);
  s.oo_total_variation = distance.mean;
  s.oo_total_variation_err = distance.error;
  s.oo_total_variation_noise = total_variation_noise(histogram, reference, rdf.r_max_A / rdf.bins);
  s.oo_kolmogorov_smirnov = analysis::kolmogorov_smirnov(reference.counts, counts);
}

/// Jackknife error of the total variation distance, leaving out one group of replicas of `a` at a
/// time. Groups without replicas are ignored; NaN for fewer than two groups.
double jackknife_error(const DistanceHistogram& a, const DistanceHistogram& b) {
  std::vector<double> without;
  for (const std::vector<double>& group : a.group_counts) {
    if (std::ranges::all_of(group, [](double count) { return count == 0.0; })) continue;
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

/// Whether the costs differ by at most twice the error of the difference.
bool costs_agree_within_errors(const SchemeResult& faster, const SchemeResult& slower) {
  return slower.us_per_ps - faster.us_per_ps <=
         2.0 * std::hypot(faster.us_per_ps_err, slower.us_per_ps_err);
}

/// The fastest scheme whose error is below a limit, and those that are equally fast. There is none
/// if a faster one may be as accurate.
CheapestScheme cheapest_scheme(const std::vector<SchemeResult>& schemes, std::string within,
                               ErrorMeasure measure, double limit) {
  CheapestScheme best;
  best.within = std::move(within);
  std::vector<const SchemeResult*> good;
  for (const SchemeResult& s : schemes | std::views::drop(1)) {
    if (is_error_below(s, measure, limit)) good.push_back(&s);
  }
  std::ranges::stable_sort(good, {}, &SchemeResult::us_per_ps);
  for (const SchemeResult& s : schemes | std::views::drop(1)) {
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
  for (const SchemeResult* s : good | std::views::drop(1)) {
    if (costs_agree_within_errors(fastest, *s)) best.ties.push_back(s->label);
  }
  return best;
}

analysis::MeanError error_of(const SchemeResult& s, ErrorMeasure measure) {
  if (measure == ErrorMeasure::potential) return s.potential_difference_kcal_per_mol;
  return {s.oo_total_variation, s.oo_total_variation_err};
}

/// The schemes of each curve, which follow each other.
std::vector<std::vector<const SchemeResult*>> curves_of(const std::vector<SchemeResult>& schemes) {
  std::vector<std::vector<const SchemeResult*>> curves;
  for (const SchemeResult& s : schemes) {
    if (curves.empty() || curves.back().front()->curve != s.curve) curves.emplace_back();
    curves.back().push_back(&s);
  }
  return curves;
}

}  // namespace

std::vector<Variant> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                   const CompareOptions& options) {
  check_request(deck, schemes, options);
  const std::vector<RingDeck> rings = decks_by_ring(deck, options);
  std::vector<Variant> variants;
  const bool by_step = !options.steps.empty();
  if (by_step && has_thermostat(deck)) variants.push_back(reference_of(deck, options));
  for (const std::string& scheme : schemes) {
    for (const RingDeck& ring : rings) {
      const std::string curve = scheme + ring.suffix;
      for (const double step : options.steps) {
        variants.push_back(with_step(ring.deck, scheme, curve, step));
      }
      for (const int beads : options.beads) {
        variants.push_back({fmt::format("{}:beads={}", curve, beads),
                            with_scheme(with_beads(ring.deck, beads), scheme), curve});
      }
      if (by_step || !options.beads.empty()) continue;
      variants.push_back({curve, with_scheme(ring.deck, scheme), curve});
    }
  }
  for (Variant& variant : variants) {
    Deck& own = variant.deck;
    if (!own.rdf) own.rdf = ObserveRdf{};
    if (by_step) {
      if (!own.energies) own.energies = ObserveTable{};
      match_interval(own.energies->every, deck, own);
      match_interval(own.rdf->every, deck, own);
    }
    // Hydrogen-bond lifetimes depend on the sampling interval, which must be equal for all.
    if (own.correlation) match_interval(own.correlation->every, deck, own);
    if (options.device) own.run.device = *options.device;
    if (options.threads) own.run.threads = *options.threads;
  }
  return variants;
}

void EnergyConservation::add(const Frame& frame) {
  std::vector<double> energies;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const Conservation& now = frame.conservation[r];
    energies.push_back(now.energy_kcal_per_mol);
    Changes& changes = replicas_.try_emplace(frame.replica_ids[r], Changes{now}).first->second;
    const Conservation& first = changes.first;
    const double change = std::abs(now.energy_kcal_per_mol - first.energy_kcal_per_mol);
    changes.samples += 1.0;
    changes.squares += change * change;
    const auto raise = [](double& largest, double x) { largest = std::max(largest, x); };
    raise(changes.max, change);
    raise(changes.momentum_max, distance(now.momentum_Da_A_per_akma, first.momentum_Da_A_per_akma));
    raise(changes.angular_max,
          distance(now.angular_momentum_Da_A2_per_akma, first.angular_momentum_Da_A2_per_akma));
  }
  drift_.add(frame.replica_ids, energies);
  last_ids_ = frame.replica_ids;
}

EnergyConservation::Result EnergyConservation::result() const {
  Result result;
  if (last_ids_.empty() || replicas_.at(last_ids_.front()).samples < 2.0) return result;
  if (const auto drift = drift_.result()) result.drift = drift->slope;
  result.max = result.momentum_max = result.angular_max = 0.0;
  std::vector<double> mean_squares;
  for (const std::int64_t id : last_ids_) {
    const Changes& changes = replicas_.at(id);
    mean_squares.push_back(changes.squares / changes.samples);
    result.max = std::max(result.max, changes.max);
    result.momentum_max = std::max(result.momentum_max, changes.momentum_max);
    result.angular_max = std::max(result.angular_max, changes.angular_max);
  }
  const analysis::MeanError squares = analysis::mean_and_error(mean_squares);
  // d sqrt(s) = ds / (2 sqrt(s))
  result.rms = {std::sqrt(squares.mean),
                squares.error > 0.0 ? 0.5 * squares.error / std::sqrt(squares.mean) : 0.0};
  return result;
}

SchemeRun::SchemeRun(Variant variant, const Start& start, const EngineMaker& engine_maker,
                     const std::shared_ptr<Potential>& potential)
    : Variant(std::move(variant)),
      molecules(start.state.molecules),
      sample_every(deck.energies.value_or(ObserveTable{}).every) {
  const int replicas = deck.system.replicas;
  const auto mean = analysis::PooledBlocking::of_replicas(replicas);
  means.assign(std::size(kMeans), mean);
  for (const RingColumn& column : kRingColumns) {
    if (deck.path_integral && column.has_limit) rings.emplace_back(&column, mean);
  }
  const PairCountRequest counts = make_pair_count_request(deck);
  RunInfo info{"", molecules, replicas, "", deck.integrator.timestep_fs, counts.first_step};
  info.baths_K = bath_temperatures_K(deck);
  info.potential = potential;
  const ObserverContext context{info, make_system(deck, molecules), water_model(deck), counts};
  first_step = counts.first_step;
  engine = (engine_maker ? engine_maker : make_engine)(
      context.system, start.state, counts, {deck.run.device, deck.run.threads, potential});
  Deck without_rows = deck;
  without_rows.energies = {sample_every, {ReplicaSelection::Kind::first, 0}};
  energies = energies_observable().make(without_rows, context);
  // Within a wall, evaporated molecules remain in the system as a gas.
  if (!deck.confinement) evaporation = std::make_unique<EvaporationWatch>();
  if (is_flexible(deck)) dissociation = std::make_unique<DissociationWatch>(*engine);
  if (deck.correlation) {
    correlations.emplace(*deck.correlation, context.model, molecules, replicas,
                         context.timestep_fs);
  }
  MeasureSettings settings;
  energies->configure(settings);
  engine->measure_with(settings);
}

std::vector<Observer*> SchemeRun::observers() const {
  std::vector<Observer*> all{energies.get()};
  if (evaporation) all.push_back(evaporation.get());
  if (dissociation) all.push_back(dissociation.get());
  return all;
}

void SchemeRun::sample() {
  const auto is_due = [&](std::int64_t every) { return engine->step() % every == 0; };
  const bool is_sampled = is_due(sample_every);
  const bool is_correlated =
      correlations && engine->step() >= first_step && is_due(deck.correlation->every);
  unsigned fields = is_correlated ? kPositions : kNoFields;
  if (is_sampled) fields |= kEnergies | kConservation | (rings.empty() ? kNoFields : kRings);
  std::vector<Observer*> due = observers();
  std::erase_if(due, [&](const Observer* observer) { return !is_due(observer->every()); });
  for (const Observer* observer : due) fields |= observer->fields();
  if (fields == kNoFields) return;
  Frame frame;
  engine->snapshot(fields, frame);
  if (frame.replica_ids.empty()) return;
  for (Observer* observer : due) observer->observe(frame);
  if (is_correlated) correlations->observe(frame, deck.run.threads);
  if (!is_sampled) return;
  for (const Conservation& c : frame.conservation) {
    constraint_max_A2 = std::max(constraint_max_A2, c.constraint_max_A2);
  }
  if (frame.step < first_step) return;
  if (!has_thermostat(deck)) conservation.add(frame);
  const auto add = [&](const auto& rows, const auto& value, analysis::PooledBlocking& to) {
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(std::invoke(value, row));
    to.add_replicas(frame.replica_ids, values);
  };
  for (std::size_t k = 0; k < means.size(); ++k) add(frame.energies, kMeans[k].first, means[k]);
  for (auto& [column, ring] : rings) {
    add(
        frame.rings, [of = column](const RingMeasures& m) { return of->of(m); }, ring);
  }
}

std::int64_t SchemeRun::replica_steps() const {
  std::int64_t steps = engine->step() * deck.system.replicas;
  for (const BlowUp& b : engine->blow_ups()) steps -= engine->step() - b.step;
  return steps;
}

bool SchemeRun::has_lost_all_replicas() const {
  return engine->blow_ups().size() == static_cast<std::size_t>(deck.system.replicas);
}

void SchemeRun::advance_to(std::int64_t step) {
  const std::int64_t before = replica_steps();
  double seconds = 0.0;
  while (engine->step() < step) {
    const std::int64_t now = engine->step();
    std::int64_t stop = step;
    const auto stop_for = [&](std::int64_t every) {
      stop = std::min(stop, now - now % every + every);
    };
    for (const Observer* observer : observers()) stop_for(observer->every());
    if (correlations) stop_for(deck.correlation->every);
    const auto start = std::chrono::steady_clock::now();
    engine->advance(stop - now);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    sample();
  }
  wall_seconds += seconds;
  const double ps =
      static_cast<double>(replica_steps() - before) * deck.integrator.timestep_fs * 1e-3;
  if (ps > 0.0) us_per_ps.add(0, 1e6 * seconds, ps);
}

void SchemeRun::take_histograms() {
  Frame frame;
  engine->snapshot(kPairCounts, frame);
  for (std::size_t p = 0; p < histograms.size(); ++p) {
    histograms[p] = distance_histogram(frame, static_cast<PairClass>(p), *deck.rdf);
  }
}

std::vector<AveragedQuantity> SchemeRun::ring_averages() const {
  const double interval_ps = static_cast<double>(sample_every) * deck.integrator.timestep_fs * 1e-3;
  std::vector<AveragedQuantity> averages;
  for (const auto& [column, ring] : rings) {
    const analysis::Blocking b = ring.result();
    averages.push_back({"beads", std::string(column->name), b.mean, b.error,
                        b.autocorrelation_time * interval_ps,
                        ring.samples() / (2.0 * b.autocorrelation_time)});
  }
  return averages;
}

SchemeResult SchemeRun::result(const SchemeRun& first) const {
  SchemeResult s;
  s.label = label;
  s.curve = curve;
  s.steps = engine->step();
  s.timestep_fs = deck.integrator.timestep_fs;
  s.beads = beads_of(deck);
  if (deck.path_integral) s.frequencies = deck.path_integral->frequencies;
  s.blow_ups = engine->blow_ups();
  s.constraint_max_A2 = constraint_max_A2;
  if (evaporation) s.departed_replicas = std::ssize(evaporation->events());
  // Replicas that are all lost say nothing about the cost or the averages of a scheme.
  if (has_lost_all_replicas()) return s;
  if (correlations) {
    s.correlation_times = correlations->times();
    s.correlation_interval_fs = correlation_interval_fs();
  }
  s.rings = ring_averages();
  const auto ratio_or_0 = [](double a, double b) { return b > 0.0 ? a / b : 0.0; };
  s.steps_per_second = ratio_or_0(static_cast<double>(replica_steps()), wall_seconds);
  s.ns_per_day = ns_per_day(s.steps_per_second, s.timestep_fs);
  s.us_per_ps = 1e9 / (s.steps_per_second * s.timestep_fs);
  if (const double error = us_per_ps.result().error; error > 0.0) s.us_per_ps_err = error;
  const EngineReport r = engine->report();
  const double seconds = r.pair_seconds + r.bond_seconds + r.noise_seconds + r.rest_seconds;
  s.pair_share = ratio_or_0(r.pair_seconds, seconds);
  s.bond_share = ratio_or_0(r.bond_seconds, seconds);
  s.noise_share = ratio_or_0(r.noise_seconds, seconds);
  s.rest_share = ratio_or_0(r.rest_seconds, seconds);
  s.iterations_per_step = ratio_or_0(static_cast<double>(r.constraint_iterations),
                                     static_cast<double>(r.molecule_steps));
  for (std::size_t k = 0; k < means.size(); ++k) s.*kMeans[k].second = mean_and_error(means[k]);
  const double steps_per_sample =
      2.0 * means.back().result().autocorrelation_time * static_cast<double>(sample_every);
  s.autocorrelation_ps = 0.5 * steps_per_sample * s.timestep_fs * 1e-3;
  s.independent_samples_per_second = s.steps_per_second / steps_per_sample;
  if (!has_thermostat(deck)) {
    const EnergyConservation::Result c = conservation.result();
    const double interval_ps = static_cast<double>(sample_every) * s.timestep_fs * 1e-3;
    s.energy_drift_kcal_per_mol_per_ps = {c.drift.mean / interval_ps, c.drift.error / interval_ps};
    s.energy_rms_kcal_per_mol = c.rms;
    s.energy_max_kcal_per_mol = c.max;
    s.momentum_max_Da_A_per_ps = c.momentum_max / units::picoseconds_per_akma;
    s.angular_momentum_max_Da_A2_per_ps = c.angular_max / units::picoseconds_per_akma;
  }
  if (!first.has_lost_all_replicas()) {
    const analysis::MeanError reference = mean_and_error(first.means.back());
    s.potential_difference_kcal_per_mol = {
        s.potential_kcal_per_mol.mean - reference.mean,
        &first == this ? 0.0 : std::hypot(s.potential_kcal_per_mol.error, reference.error)};
  }
  add_distances(*this, first, s);
  return s;
}

Messages SchemeRun::warnings() const {
  Messages all;
  if (evaporation) append(evaporation->warning(), all);
  if (dissociation) append(dissociation->warning(), all);
  append(energies->messages(), all);
  if (correlations) append(correlations->warning(), all);
  append(decks::warning_of_resonance(deck), all);
  append(estimator_warnings(ring_averages(), deck), all);
  if (!has_thermostat(deck)) return all;
  append(friction_warning(make_system(deck, molecules)), all);
  for (const AveragedQuantity& a : energies->averages()) {
    if (a.quantity != "temperature_K") continue;
    append(temperature_warning(a, a.bath_K.value_or(bath_temperatures_K(deck).front()), deck), all);
  }
  return all;
}

DistanceHistogram distance_histogram(const Frame& frame, PairClass pair_class,
                                     const ObserveRdf& rdf) {
  const double width_A = rdf.r_max_A / rdf.bins;
  const double pairs = analysis::pairs_per_sample(frame.molecules)[pair_class];
  const auto bins = static_cast<std::size_t>(rdf.bins);
  DistanceHistogram d;
  std::vector<double> samples;
  for (std::size_t g = 0; g < frame.pair_samples.size(); ++g) {
    samples.push_back(static_cast<double>(frame.pair_samples[g]) * pairs * width_A);
    const auto* counts = &frame.pair_counts[(g * kPairClasses + pair_class) * bins];
    d.group_counts.emplace_back(counts, counts + bins);
  }
  std::vector<double> in_bin(samples.size());
  for (std::size_t bin = 0; bin < bins; ++bin) {
    for (std::size_t g = 0; g < in_bin.size(); ++g) in_bin[g] = d.group_counts[g][bin];
    d.counts.push_back(std::accumulate(in_bin.begin(), in_bin.end(), 0.0));
    const analysis::MeanError density = analysis::ratio_and_error(in_bin, samples);
    d.density_per_A.push_back(density.mean);
    d.error_per_A.push_back(density.error);
  }
  return d;
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

std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes) {
  std::vector<SchemeBeadLimit> limits;
  for (auto& curve : curves_of(schemes)) {
    std::erase_if(curve, [](const SchemeResult* s) {
      return s->rings.empty() || s->beads == 1 || s->frequencies == RingFrequencies::economised;
    });
    if (curve.empty()) continue;
    std::ranges::sort(curve, {},
                      [](const SchemeResult* s) { return std::pair(s->beads, s->timestep_fs); });
    for (std::size_t column = 0; column < curve.front()->rings.size(); ++column) {
      // Both estimators of the energy have the same mean; the errors of this one grow with P, so
      // that few beads would determine its limit.
      const std::string& quantity = curve.front()->rings[column].quantity;
      if (quantity == "energy_primitive_kcal_per_mol") continue;
      std::vector<int> beads;
      std::vector<analysis::MeanError> means;
      for (const SchemeResult* s : curve) {
        beads.push_back(s->beads);
        means.push_back({s->rings[column].mean, s->rings[column].error});
      }
      limits.push_back({curve.front()->curve, quantity, analysis::bead_limit(beads, means)});
    }
  }
  return limits;
}

std::vector<SchemeOrder> energy_orders(const std::vector<SchemeResult>& schemes) {
  std::vector<SchemeOrder> orders;
  for (const auto& curve : curves_of(schemes)) {
    std::vector<double> steps_fs, changes;
    for (const SchemeResult* s : curve) {
      if (!s->blow_ups.empty()) continue;
      steps_fs.push_back(s->timestep_fs);
      changes.push_back(s->energy_rms_kcal_per_mol.mean);
    }
    orders.push_back({curve.front()->curve, "energy", analysis::fit_order(steps_fs, changes)});
  }
  return orders;
}

analysis::MeanError total_variation_and_error(const DistanceHistogram& histogram,
                                              const DistanceHistogram& reference) {
  return {analysis::total_variation(histogram.counts, reference.counts),
          std::hypot(jackknife_error(histogram, reference), jackknife_error(reference, histogram))};
}

double total_variation_noise(const DistanceHistogram& a, const DistanceHistogram& b,
                             double width_A) {
  const auto is_unknown = [](const DistanceHistogram& d) {
    return std::ranges::none_of(d.error_per_A, [](double error) { return error > 0.0; });
  };
  if (is_unknown(a) || is_unknown(b)) return kNone;
  double sum = 0.0;
  for (std::size_t k = 0; k < a.error_per_A.size(); ++k) {
    sum += std::hypot(a.error_per_A[k], b.error_per_A[k]);
  }
  return 0.5 * width_A * std::sqrt(2.0 / std::numbers::pi) * sum;
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
