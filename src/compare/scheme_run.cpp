#include "scheme_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>

#include "analysis/rdf.hpp"
#include "deck/notes.hpp"
#include "observe/warnings.hpp"
#include "run/run_messages.hpp"

namespace tarn {
namespace {

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

bool is_due(const Engine& engine, std::int64_t every) { return engine.step() % every == 0; }

/// The first multiple of `every` after a step.
std::int64_t next_multiple(std::int64_t step, std::int64_t every) {
  return step - step % every + every;
}

BathShifts shifts_of(const std::vector<StationaryQuantity>& baths) {
  BathShifts rises;
  for (const StationaryQuantity& bath : baths) rises.add(bath.halves, bath.mean.result().error);
  return rises;
}

/// Adds the energies of a frame to the quantities of each bath.
void add_by_bath(const Frame& frame, SchemeRun& run) {
  for (std::size_t bath = 0; bath < run.temperature_of_bath.size(); ++bath) {
    std::vector<std::int64_t> places;
    std::vector<double> temperatures, potentials;
    for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
      const std::int64_t id = frame.replica_ids[r];
      if (run.baths->of(id) != bath) continue;
      places.push_back(run.baths->index_in_bath(id));
      temperatures.push_back(frame.energies[r].temperature_K);
      potentials.push_back(frame.energies[r].potential_kcal_per_mol);
    }
    if (places.empty()) continue;
    run.temperature_of_bath[bath].add_replicas(places, temperatures);
    run.potential_of_bath[bath].add_replicas(places, potentials);
  }
}

/// Warns about mean temperatures that differ from those of the baths.
Messages temperature_warnings(const SchemeRun& run, const BathShifts& rises) {
  Messages warnings;
  const auto drift = drift_of(rises);
  for (std::size_t bath = 0; bath < run.temperature_of_bath.size(); ++bath) {
    const analysis::PooledBlocking& pooled = run.temperature_of_bath[bath].mean;
    if (pooled.samples() == 0.0) continue;
    const analysis::Blocking b = pooled.result();
    AveragedQuantity temperature_K{"",      "", b.mean,
                                   b.error, {}, pooled.samples() / (2.0 * b.autocorrelation_time)};
    if (drift) temperature_K.drift = drift->per_bath[bath];
    const double bath_K =
        run.baths->temperature_K(bath).value_or(bath_temperatures_K(run.deck).front());
    append(temperature_warning(temperature_K, bath_K, run.deck), warnings);
  }
  return warnings;
}

}  // namespace

void EnergyConservation::add(const Frame& frame) {
  std::vector<double> energies;
  for (std::size_t r = 0; r < frame.replica_ids.size(); ++r) {
    const Conservation& now = frame.conservation[r];
    energies.push_back(now.energy_kcal_per_mol);
    Changes& changes = replicas_.try_emplace(frame.replica_ids[r], Changes{now}).first->second;
    const double change = now.energy_kcal_per_mol - changes.first.energy_kcal_per_mol;
    changes.samples += 1.0;
    changes.squares += change * change;
    changes.max = std::max(changes.max, std::abs(change));
    changes.momentum_max =
        std::max(changes.momentum_max,
                 distance(now.momentum_Da_A_per_akma, changes.first.momentum_Da_A_per_akma));
    changes.angular_max =
        std::max(changes.angular_max, distance(now.angular_momentum_Da_A2_per_akma,
                                               changes.first.angular_momentum_Da_A2_per_akma));
  }
  drift_.add(frame.replica_ids, energies);
  last_ids_ = frame.replica_ids;
}

EnergyConservation::Result EnergyConservation::result() const {
  Result result;
  result.drift = {SchemeResult::kNone, SchemeResult::kNone};
  if (last_ids_.empty() || replicas_.at(last_ids_.front()).samples < 2.0) {
    result.rms = {SchemeResult::kNone, SchemeResult::kNone};
    result.max = result.momentum_max = result.angular_max = SchemeResult::kNone;
    return result;
  }
  if (const auto drift = drift_.result()) result.drift = drift->slope;
  std::vector<double> mean_squares;
  for (const std::int64_t id : last_ids_) {
    const Changes& changes = replicas_.at(id);
    mean_squares.push_back(changes.squares / changes.samples);
    result.max = std::max(result.max, changes.max);
    result.momentum_max = std::max(result.momentum_max, changes.momentum_max);
    result.angular_max = std::max(result.angular_max, changes.angular_max);
  }
  const analysis::MeanError squares = analysis::mean_and_error(mean_squares);
  result.rms.mean = std::sqrt(squares.mean);
  // d sqrt(s) = ds / (2 sqrt(s))
  if (squares.error > 0.0) result.rms.error = 0.5 * squares.error / result.rms.mean;
  return result;
}

const std::vector<RingColumn>& bead_columns() {
  static const std::vector<RingColumn> columns = [] {
    std::vector<RingColumn> all;
    std::ranges::copy_if(kRingColumns, std::back_inserter(all), &RingColumn::has_limit);
    return all;
  }();
  return columns;
}

BeadAverages::BeadAverages(int replicas)
    : means_(bead_columns().size(), analysis::PooledBlocking::of_replicas(replicas)) {}

void BeadAverages::add(const Frame& frame) {
  std::vector<double> values(frame.rings.size());
  for (std::size_t column = 0; column < bead_columns().size(); ++column) {
    for (std::size_t r = 0; r < values.size(); ++r) {
      values[r] = bead_columns()[column].of(frame.rings[r]);
    }
    means_[column].add_replicas(frame.replica_ids, values);
  }
}

std::vector<AveragedQuantity> BeadAverages::result(double interval_ps) const {
  std::vector<AveragedQuantity> averages;
  for (std::size_t column = 0; column < bead_columns().size(); ++column) {
    const analysis::Blocking blocking = means_[column].result();
    averages.push_back({"beads", std::string(bead_columns()[column].name), blocking.mean,
                        blocking.error, blocking.autocorrelation_time * interval_ps,
                        means_[column].samples() / (2.0 * blocking.autocorrelation_time)});
  }
  return averages;
}

StationaryQuantity StationaryQuantity::of_replicas(int replicas) {
  return {analysis::PooledBlocking::of_replicas(replicas), analysis::Halves::of_replicas(replicas)};
}

void StationaryQuantity::add_replicas(std::span<const std::int64_t> ids,
                                      std::span<const double> values) {
  mean.add_replicas(ids, values);
  halves.add_replicas(ids, values);
}

void SchemeRun::sample() {
  const auto watches = {static_cast<FirstEventWatch*>(evaporation.get()),
                        static_cast<FirstEventWatch*>(dissociation.get())};
  const auto is_watching = [&](const FirstEventWatch* watch) {
    return watch != nullptr && is_due(*engine, watch->every());
  };
  const bool is_sampled = is_due(*engine, sample_every);
  const bool is_correlated =
      correlations && engine->step() >= first_step && is_due(*engine, deck.correlation->every);
  unsigned fields = kNoFields;
  if (is_correlated) fields |= kPositions;
  for (const FirstEventWatch* watch : watches) {
    if (is_watching(watch)) fields |= watch->fields();
  }
  if (is_sampled) fields |= kEnergies | kConservation | (rings ? kRings : kNoFields);
  if (fields == kNoFields) return;
  Frame frame;
  engine->snapshot(fields, frame);
  if (frame.replica_ids.empty()) return;
  for (FirstEventWatch* watch : watches) {
    if (is_watching(watch)) watch->observe(frame);
  }
  if (is_correlated) correlations->observe(frame, deck.run.threads);
  if (!is_sampled) return;
  for (const Conservation& c : frame.conservation) {
    constraint_max_A2 = std::max(constraint_max_A2, c.constraint_max_A2);
  }
  if (frame.step < first_step) return;
  if (deck.thermostat.kind == Thermostat::none) conservation.add(frame);
  const auto add = [&](analysis::PooledBlocking& to, double Energies::*member) {
    std::vector<double> values;
    for (const Energies& e : frame.energies) values.push_back(e.*member);
    to.add_replicas(frame.replica_ids, values);
  };
  add(temperature, &Energies::temperature_K);
  add(translation, &Energies::temperature_translation_K);
  add(rotation, &Energies::temperature_rotation_K);
  add(bond, &Energies::temperature_bond_K);
  add(potential, &Energies::potential_kcal_per_mol);
  if (rings) rings->add(frame);
  add_by_bath(frame, *this);
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
    std::int64_t stop = std::min(step, next_multiple(now, sample_every));
    if (evaporation) stop = std::min(stop, next_multiple(now, evaporation->every()));
    if (dissociation) stop = std::min(stop, next_multiple(now, dissociation->every()));
    if (correlations) stop = std::min(stop, next_multiple(now, deck.correlation->every));
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
  const ObserveRdf& rdf = *deck.rdf;
  Frame frame;
  engine->snapshot(kPairCounts, frame);
  const std::array<double, 3> pairs = analysis::pairs_per_sample(frame.molecules);
  for (std::size_t p = 0; p < histograms.size(); ++p) {
    histograms[p] = distance_histogram(frame, static_cast<PairClass>(p), rdf.bins,
                                       rdf.r_max_A / rdf.bins, pairs[p]);
  }
}

Messages end_warnings(const SchemeRun& run) {
  Messages warnings;
  if (run.evaporation) append(run.evaporation->warning(), warnings);
  if (run.dissociation) append(run.dissociation->warning(), warnings);
  const auto add = [&](const std::optional<Message>& warning) { append(warning, warnings); };
  // Quantities are named by their columns in energies.csv.
  add(equilibration_warning("potential_kcal_per_mol", shifts_of(run.potential_of_bath)));
  const BathShifts temperature = shifts_of(run.temperature_of_bath);
  add(equilibration_warning("temperature_K", temperature));
  if (run.correlations) add(run.correlations->warning());
  add(decks::warning_of_resonance(run.deck));
  if (run.rings) append(estimator_warnings(run.rings->result(1.0), run.deck), warnings);
  if (run.deck.thermostat.kind == Thermostat::none) return warnings;
  add(friction_warning(make_system(run.deck, run.molecules)));
  append(temperature_warnings(run, temperature), warnings);
  return warnings;
}

SchemeRun make_scheme_run(const Deck& deck, const std::string& label, const Start& start,
                          const EngineMaker& engine_maker,
                          const std::shared_ptr<Potential>& potential) {
  SchemeRun run;
  run.label = label;
  run.deck = deck;
  run.molecules = start.state.molecules;
  const PairCountRequest counts = make_pair_count_request(deck);
  const EngineMaker make = engine_maker ? engine_maker : make_engine;
  run.engine = make(make_system(deck, run.molecules), start.state, counts,
                    {deck.run.device, deck.run.threads, potential});
  for (analysis::PooledBlocking* q :
       {&run.temperature, &run.translation, &run.rotation, &run.bond, &run.potential}) {
    *q = analysis::PooledBlocking::of_replicas(deck.system.replicas);
  }
  RunInfo info;
  info.replicas = deck.system.replicas;
  info.baths_K = bath_temperatures_K(deck);
  run.baths.emplace(info);
  for (const int replicas : run.baths->replicas()) {
    run.temperature_of_bath.push_back(StationaryQuantity::of_replicas(replicas));
    run.potential_of_bath.push_back(StationaryQuantity::of_replicas(replicas));
  }
  if (deck.path_integral) run.rings.emplace(deck.system.replicas);
  if (deck.correlation) {
    run.correlations.emplace(*deck.correlation, water_model(deck), run.molecules,
                             deck.system.replicas, deck.integrator.timestep_fs);
  }
  // Within a wall, evaporated molecules remain in the system as a gas.
  if (!deck.confinement) run.evaporation = std::make_unique<EvaporationWatch>();
  if (is_flexible(deck)) run.dissociation = std::make_unique<DissociationWatch>(*run.engine);
  run.sample_every = deck.energies ? deck.energies->every : ObserveTable{}.every;
  run.first_step = counts.first_step;
  return run;
}

DistanceHistogram distance_histogram(const Frame& frame, PairClass pair_class, int bins,
                                     double width_A, double pairs) {
  DistanceHistogram d;
  const std::size_t b = static_cast<std::size_t>(bins);
  const std::size_t groups = frame.pair_samples.size();
  d.group_counts.assign(groups, std::vector<double>(b));
  d.counts.assign(b, 0.0);
  d.density_per_A.assign(b, 0.0);
  d.error_per_A.assign(b, 0.0);
  std::vector<double> samples(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    samples[g] = static_cast<double>(frame.pair_samples[g]) * pairs * width_A;
    const auto* counts =
        &frame.pair_counts[(g * kPairClasses + static_cast<std::size_t>(pair_class)) * b];
    std::copy(counts, counts + b, d.group_counts[g].begin());
  }
  std::vector<double> in_bin(groups);
  for (std::size_t bin = 0; bin < b; ++bin) {
    for (std::size_t g = 0; g < groups; ++g) in_bin[g] = d.group_counts[g][bin];
    d.counts[bin] = std::accumulate(in_bin.begin(), in_bin.end(), 0.0);
    const analysis::MeanError density = analysis::ratio_and_error(in_bin, samples);
    d.density_per_A[bin] = density.mean;
    d.error_per_A[bin] = density.error;
  }
  return d;
}

analysis::MeanError mean_and_error(const analysis::PooledBlocking& quantity) {
  const analysis::Blocking b = quantity.result();
  return {b.mean, b.error};
}

}  // namespace tarn
