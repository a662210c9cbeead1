#include "water_compare.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "contestant.hpp"
#include "deck/notes.hpp"
#include "deck/system_limits.hpp"
#include "energy_conservation.hpp"
#include "error_cost.hpp"
#include "run/blow_up.hpp"
#include "run/progress.hpp"
#include "tarn/analysis/histogram.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/observers.hpp"
#include "turns.hpp"
#include "water_correlations.hpp"
#include "water_tables.hpp"

namespace tarn {
namespace {

/// "[observe.cluster]", ... of the deck that only a run heeds. Of [observe.energies], [observe.rdf]
/// and [observe.correlation] a comparison takes what it measures by.
std::vector<std::string> unused_sections(const Deck& deck) {
  std::vector<std::string> names;
  const auto add = [&](bool is_there, const char* name) {
    if (is_there) names.push_back(fmt::format("[observe.{}]", name));
  };
  add(deck.conservation.has_value(), "conservation");
  add(deck.heat.has_value(), "heat");
  add(deck.temperatures.has_value(), "temperatures");
  add(deck.geometry.has_value(), "geometry");
  add(deck.cluster.has_value(), "cluster");
  add(deck.multipliers.has_value(), "multipliers");
  add(deck.profile.has_value(), "profile");
  add(deck.spectrum.has_value(), "spectrum");
  add(deck.minima.has_value(), "minima");
  add(deck.trajectory.has_value(), "trajectory");
  add(deck.final_structures.has_value(), "final");
  return names;
}

/// Nothing that replicas did which are all gone tells what a scheme costs or finds.
void forget_numbers(SchemeResult& s) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
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

CostPoint cost_point(const SchemeResult& s) {
  CostPoint p;
  p.timestep_fs = s.timestep_fs;
  p.us_per_ps = s.us_per_ps;
  p.us_per_ps_err = s.us_per_ps_err;
  p.potential = s.potential_difference_kcal_per_mol;
  p.distance = {s.oo_total_variation, s.oo_total_variation_err};
  p.distance_of_noise = s.oo_total_variation_noise;
  p.survived = s.blow_ups.empty();
  return p;
}

using DistancesByClass = std::array<Distances, kPairClasses>;

DistancesByClass all_distances(const Contestant& c) {
  const ObserveRdf& rdf = *c.deck.rdf;
  Frame frame;
  c.engine->snapshot(kPairCounts, frame);
  const std::array<double, 3> pairs = analysis::pairs_per_sample(frame.molecules);
  DistancesByClass all;
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p] =
        distances_of(frame, static_cast<PairClass>(p), rdf.bins, rdf.r_max_A / rdf.bins, pairs[p]);
  }
  return all;
}

/// Schemes of water, side by side.
class Comparison {
 public:
  Comparison(const Deck& deck, const std::vector<Variant>& variants,
             const std::vector<std::string>& schemes, const CompareOptions& options,
             CompareResult& result)
      : deck_(deck),
        schemes_(schemes),
        options_(options),
        result_(result),
        wall_seconds_(variants.size()),
        us_per_ps_(variants.size()) {
    tell_what_is_left_out();
    std::vector<std::shared_ptr<const Start>> starts;
    for (const Variant& v : variants) {
      starts.push_back(start_of(variants, starts));
      if (starts.size() == 1) {
        refuse_too_many_correlations(variants, starts.front()->state.molecules);
      }
      contestants_.push_back(make_contestant(v.deck, v.label, *starts.back()));
      curves_.push_back(v.curve);
      for (const std::string& note : starts.back()->notes) warn(v.label + ": " + note);
    }
    if (!on_one_device()) {
      warn("a scheme is run on the CPU, and so are the others, to be compared");
      for (std::size_t k = 0; k < variants.size(); ++k) {
        Deck on_cpu = variants[k].deck;
        on_cpu.run.device = "cpu";
        contestants_[k] = make_contestant(on_cpu, variants[k].label, *starts[k]);
      }
    }
    result_.device = contestants_.front().engine->description();
    molecules_ = result_.molecules = contestants_.front().molecules;
    if (deck_.correlation) tell_of_correlations();
  }

  void go() {
    run();
    for (const Contestant& c : contestants_) distances_.push_back(all_distances(c));
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      result_.schemes.push_back(result_of(k));
      tell_blow_ups(result_.schemes.back(), contestants_[k]);
      for (const std::string& note : end_notes(contestants_[k])) {
        warn(contestants_[k].label + ": " + note);
      }
    }
    if (!options_.steps.empty()) tell_short_timings();
    // The schemes' own keys are in the labels; what is left is the same for all of them.
    const std::string provenance = provenance_of(contestants_.front().deck, molecules_);
    write_water_table(result_, provenance);
    write_rdf(provenance);
    draw_oo();
    if (deck_.correlation) tell_correlations(provenance);
    if (options_.steps.empty()) return;
    if (has_bath(deck_)) {
      draw_errors();
    } else {
      tell_energy_orders(provenance);
    }
  }

 private:
  /// "auto" may be the CPU for some.
  bool on_one_device() const {
    const std::string first = contestants_.front().engine->arithmetic();
    return std::all_of(contestants_.begin(), contestants_.end(),
                       [&](const Contestant& c) { return c.engine->arithmetic() == first; });
  }
  /// A run may have as many as fit; here each scheme has its own.
  /// @throws InputError
  static void refuse_too_many_correlations(const std::vector<Variant>& variants, int molecules) {
    double numbers = 0.0;
    for (const Variant& v : variants) numbers += decks::correlation_numbers(v.deck, molecules);
    if (numbers <= analysis::kMaxCorrelationNumbers) return;
    throw InputError(fmt::format(
        "correlations in time of {} schemes are {:.2g} numbers to remember, and at most {:.0e} are "
        "allowed; compare fewer, or change every, length_ps or replicas of [observe.correlation]",
        variants.size(), numbers, analysis::kMaxCorrelationNumbers));
  }

  /// What is wanted of correlations and cannot be had.
  void tell_of_correlations() const {
    const double first_fs = contestants_.front().correlation_interval_fs();
    std::vector<std::string> others;
    for (const Contestant& c : contestants_) {
      if (const auto note = decks::note_on_correlation(c.deck)) warn(c.label + ": " + *note);
      const double interval_fs = c.correlation_interval_fs();
      if (interval_fs == first_fs) continue;
      others.push_back(fmt::format("{:g} fs ({})", interval_fs, c.label));
    }
    if (others.empty()) return;
    warn(fmt::format(
        "correlations have samples each {:g} fs ({}), but {}: how long hydrogen bonds last depends "
        "on that, and is not compared; an interval that is a multiple of all steps mends it",
        first_fs, contestants_.front().label, fmt::join(others, ", ")));
  }

  /// Of the first variant that has none yet: that of an earlier one, where these are the same.
  /// @throws StartInterrupted
  std::shared_ptr<const Start> start_of(
      const std::vector<Variant>& variants,
      const std::vector<std::shared_ptr<const Start>>& starts) const {
    const Deck& deck = variants[starts.size()].deck;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      if (have_equal_starts(variants[k].deck, deck)) return starts[k];
    }
    const auto replicas_before = [&](std::size_t end) {
      int replicas = 0;
      for (std::size_t k = 0; k < end; ++k) replicas += variants[k].deck.system.replicas;
      return replicas;
    };
    const auto should_continue = [&](int done, int) {
      if (options_.on_making_start) {
        options_.on_making_start(replicas_before(starts.size()) + done,
                                 replicas_before(variants.size()));
      }
      return !(options_.interrupted && options_.interrupted());
    };
    return std::make_shared<const Start>(make_start(deck, should_continue));
  }

  void tell_what_is_left_out() const {
    const std::vector<std::string> unused = unused_sections(deck_);
    if (!unused.empty()) {
      warn(fmt::format("a comparison does not use {} of the deck; tarn run does",
                       fmt::join(unused, ", ")));
    }
    if (has_several_baths(bath_temperatures_K(deck_))) {
      warn("the baths have several temperatures: means and histograms of a scheme pool them");
    }
  }

  void run() {
    const std::int64_t total = deck_.run.steps;
    const auto count = static_cast<std::int64_t>(contestants_.size());
    if (options_.on_start) {
      options_.on_start(
          {result_.out_dir, result_.device, molecules_, deck_.system.replicas, 0, total * count});
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto tell_progress = [&](std::int64_t step) {
      if (!options_.on_progress) return;
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      options_.on_progress(progress_of(step * count, 0, total * count, elapsed.count(),
                                       deck_.integrator.timestep_fs, deck_.system.replicas));
    };
    for (Contestant& c : contestants_) c.sample();
    const std::int64_t done = run_in_turns(
        total,
        [&](std::int64_t step) {
          for (std::size_t k = 0; k < contestants_.size(); ++k) {
            take_turn(k, own_part(contestants_[k].deck.run.steps, step, total));
          }
        },
        [&](std::int64_t step) {
          tell_progress(step);
          return !(options_.interrupted && options_.interrupted());
        });
    tell_progress(done);
    result_.interrupted = done < total;
  }

  void take_turn(std::size_t k, std::int64_t step) {
    Contestant& c = contestants_[k];
    const std::int64_t before = replica_steps(c);
    const double seconds = c.advance_to(step).wall_seconds;
    wall_seconds_[k] += seconds;
    const auto steps = static_cast<double>(replica_steps(c) - before);
    const double ps = steps * c.deck.integrator.timestep_fs * 1e-3;
    if (ps > 0.0) us_per_ps_[k].add(0, 1e6 * seconds, ps);
  }

  static bool is_gone(const Contestant& c) {
    return c.engine->blow_ups().size() == static_cast<std::size_t>(c.deck.system.replicas);
  }

  /// Steps of all replicas together; one that was stopped made those until then.
  std::int64_t replica_steps(const Contestant& c) const {
    std::int64_t steps = c.engine->step() * c.deck.system.replicas;
    for (const BlowUp& b : c.engine->blow_ups()) steps -= c.engine->step() - b.step;
    return steps;
  }

  SchemeResult result_of(std::size_t k) const {
    const Contestant& c = contestants_[k];
    SchemeResult s;
    s.label = c.label;
    s.steps = c.engine->step();
    s.timestep_fs = c.deck.integrator.timestep_fs;
    s.blow_ups = c.engine->blow_ups();
    s.constraint_max_A2 = c.constraint_max_A2;
    if (c.evaporation) {
      s.departed_replicas = static_cast<std::int64_t>(c.evaporation->departures().size());
    }
    if (is_gone(c)) {
      forget_numbers(s);
      return s;
    }
    if (c.correlations) {
      s.correlation_times = c.correlations->times();
      s.correlation_interval_fs = c.correlation_interval_fs();
    }
    if (wall_seconds_[k] > 0.0) {
      s.steps_per_second = static_cast<double>(replica_steps(c)) / wall_seconds_[k];
    }
    s.ns_per_day = ns_per_day(s.steps_per_second, c.deck.integrator.timestep_fs);
    s.us_per_ps = 1e9 / (s.steps_per_second * s.timestep_fs);
    const analysis::Blocking of_turns = us_per_ps_[k].result();
    s.us_per_ps_err = of_turns.error > 0.0 ? of_turns.error : SchemeResult::kNone;
    take_report(c.engine->report(), s);
    s.temperature_K = mean_and_error(c.temperature);
    s.translation_K = mean_and_error(c.translation);
    s.rotation_K = mean_and_error(c.rotation);
    s.bond_K = mean_and_error(c.bond);
    s.potential_kcal_per_mol = mean_and_error(c.potential);
    const double steps_per_sample =
        2.0 * c.potential.result().autocorrelation_time * static_cast<double>(c.sample_every);
    s.autocorrelation_ps = 0.5 * steps_per_sample * c.deck.integrator.timestep_fs * 1e-3;
    s.independent_samples_per_second = s.steps_per_second / steps_per_sample;
    if (!has_bath(c.deck)) take_conservation(c, s);
    const std::vector<double>& first = distances_.front()[kOO].counts;
    const std::vector<double>& own = distances_[k][kOO].counts;
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    s.oo_total_variation = s.oo_kolmogorov_smirnov = kNone;
    s.oo_total_variation_err = s.oo_total_variation_noise = kNone;
    s.potential_difference_kcal_per_mol = {kNone, kNone};
    if (!is_gone(contestants_.front())) {
      const Distances& own_oo = distances_[k][kOO];
      const Distances& first_oo = distances_.front()[kOO];
      const analysis::MeanError distance =
          k == 0 ? analysis::MeanError{} : total_variation_of(own_oo, first_oo);
      s.oo_total_variation = distance.mean;
      s.oo_total_variation_err = distance.error;
      s.oo_total_variation_noise =
          noise_of_total_variation(own_oo, first_oo, rdf().r_max_A / rdf().bins);
      s.oo_kolmogorov_smirnov = analysis::kolmogorov_smirnov(first, own);
      const analysis::MeanError reference = mean_and_error(contestants_.front().potential);
      s.potential_difference_kcal_per_mol = {
          s.potential_kcal_per_mol.mean - reference.mean,
          k == 0 ? 0.0 : std::hypot(s.potential_kcal_per_mol.error, reference.error)};
    }
    const double count = std::accumulate(own.begin(), own.end(), 0.0);
    if (count > 0.0) {
      const std::vector<double> centres = bin_centres_A();
      s.oo_mean_distance_A =
          std::inner_product(own.begin(), own.end(), centres.begin(), 0.0) / count;
    }
    return s;
  }

  static void take_conservation(const Contestant& c, SchemeResult& s) {
    const EnergyConservation::Result r = c.conservation.result();
    const double interval_ps =
        static_cast<double>(c.sample_every) * c.deck.integrator.timestep_fs * 1e-3;
    s.energy_drift_kcal_per_mol_per_ps = {r.drift.mean / interval_ps, r.drift.error / interval_ps};
    s.energy_rms_kcal_per_mol = r.rms;
    s.energy_max_kcal_per_mol = r.max;
    s.momentum_max_Da_A_per_ps = r.momentum_max / units::picoseconds_per_akma;
    s.angular_momentum_max_Da_A2_per_ps = r.angular_max / units::picoseconds_per_akma;
  }

  static void take_report(const EngineReport& r, SchemeResult& s) {
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

  void tell_blow_ups(const SchemeResult& s, const Contestant& c) const {
    constexpr std::size_t kMostTold = 3;  // more of them say nothing new
    const bool gone = is_gone(c);
    for (std::size_t k = 0; k < s.blow_ups.size(); ++k) {
      const BlowUp& b = s.blow_ups[k];
      const std::string text =
          s.label + ": " + describe(b, c.deck, c.engine->report().indefinite_hessians, molecules_) +
          (gone ? "" : " Its samples until then stay in the means.");
      if (options_.on_blow_up) options_.on_blow_up(b, text);
      if (k < kMostTold) warn(text);
    }
    if (s.blow_ups.size() > kMostTold) {
      warn(fmt::format("{}: {} more replicas blew up", s.label, s.blow_ups.size() - kMostTold));
    }
    if (gone) warn(s.label + ": no replica is left, so it has no speed and no means");
  }

  /// What a short time tells of a cost is another number the next time.
  void tell_short_timings() const {
    constexpr double kEnoughSeconds = 1.0;
    std::size_t count = 0, shortest = 0;
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      if (is_gone(contestants_[k]) || wall_seconds_[k] >= kEnoughSeconds) continue;
      if (count++ == 0 || wall_seconds_[k] < wall_seconds_[shortest]) shortest = k;
    }
    if (count == 0) return;
    warn(fmt::format(
        "costs are uncertain: {} of {} schemes were stepped for less than {:g} s, {} for {:.2g} s; "
        "a longer run or more replicas tell them better",
        count, contestants_.size(), kEnoughSeconds, contestants_[shortest].label,
        wall_seconds_[shortest]));
  }

  void write_rdf(const std::string& provenance) const {
    constexpr std::array<const char*, kPairClasses> class_names{"OO", "OH", "HH"};
    std::vector<std::size_t> classes;
    for (std::size_t p = 0; p < class_names.size(); ++p) {
      if (rdf().pairs[p]) classes.push_back(p);
    }
    std::vector<std::string> header{"r_A"};
    for (const Contestant& c : contestants_) {
      for (const std::size_t p : classes) {
        const std::string name = c.label + " " + class_names[p];
        header.push_back(name + "_count");
        header.push_back(name + "_density_per_A");
        header.push_back(name + "_density_per_A_err");
      }
    }
    const std::string path = result_.out_dir + "/rdf.csv";
    io::CsvFormat csv(path, header);
    std::string text = csv.head(provenance +
                                "; density of the intermolecular distances: its "
                                "integral over r is 1 (less what lies beyond r_max)");
    const std::vector<double> centres = bin_centres_A();
    for (std::size_t b = 0; b < centres.size(); ++b) {
      csv.cell(centres[b]);
      for (const DistancesByClass& of_scheme : distances_) {
        for (const std::size_t p : classes) {
          const Distances& d = of_scheme[p];
          csv.cell(static_cast<std::int64_t>(d.counts[b]))
              .cell(d.density_per_A[b])
              .cell(d.error_per_A[b]);
        }
      }
      text += csv.row();
    }
    io::write_file(path, text);
  }

  /// Densities of the distances, and below them what each scheme has more than the first one: there
  /// is where schemes that agree can be told apart, and from their noise.
  void draw_oo() {
    const std::vector<double> centres = bin_centres_A();
    std::vector<std::size_t> drawn;
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      if (!is_gone(contestants_[k]) && has_smallest_step(k)) drawn.push_back(k);
    }
    const auto occupied = [&](std::size_t b) {
      return std::any_of(drawn.begin(), drawn.end(),
                         [&](std::size_t k) { return distances_[k][kOO].counts[b] > 0.0; });
    };
    std::size_t low = 0, high = centres.size();
    while (low < high && !occupied(low)) ++low;
    while (high > low && !occupied(high - 1)) --high;
    io::Plot densities;
    densities.title = "Oxygen-oxygen distances, " + std::to_string(molecules_) +
                      " water molecules (" + deck_.system.model + ")";
    densities.x_label = "r (Å)";
    densities.y_label = "probability density (1/Å)";
    densities.height_pixels = 380;
    if (low < high) densities.x_range = {{centres[low] - 0.2, centres[high - 1] + 0.2}};
    io::Plot differences = densities;
    differences.y_label = "difference from " + contestants_.front().label + " (1/Å)";
    double top = 0.0, least = 0.0, most = 0.0;
    for (const std::size_t k : drawn) {
      const Distances& d = distances_[k][kOO];
      io::Series series;
      series.label = contestants_[k].label;
      series.x = centres;
      series.y = d.density_per_A;
      series.set_error(d.error_per_A);
      series.style = io::Series::Style::steps;
      densities.series.push_back(series);
      for (std::size_t b = 0; b < series.y.size(); ++b) {
        top = std::max(top, series.y[b]);
        series.y[b] -= distances_[0][kOO].density_per_A[b];
        least = std::min(least, series.y[b]);
        most = std::max(most, series.y[b]);
      }
      std::vector<double> errors = d.error_per_A;
      for (std::size_t b = 0; b < errors.size() && k > 0; ++b) {
        errors[b] = std::hypot(errors[b], distances_[0][kOO].error_per_A[b]);
      }
      series.set_error(errors);
      differences.series.push_back(std::move(series));
    }
    if (top > 0.0) densities.y_range = {{0.0, 1.1 * top}};
    const double margin = 0.1 * (most - least);
    differences.y_range = {{least - margin, most + margin}};
    std::vector<io::Plot> plots{densities};
    if (margin > 0.0 && !is_gone(contestants_.front())) plots.push_back(differences);
    const io::Drawing drawing = io::draw(plots, result_.out_dir + "/rdf");
    result_.pictures = drawing.paths;
    if (!drawing.warning.empty()) warn(drawing.warning);
  }

  /// Tables and picture of what correlates in time, and the times that follow from it.
  void tell_correlations(const std::string& provenance) {
    std::vector<LabelledCorrelations> all;
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      if (is_gone(contestants_[k])) continue;
      if (!contestants_[k].correlations->has_rows()) {
        warn(contestants_[k].label +
             ": there are no correlations, as no replica was seen over a whole window, some twice "
             "[observe.correlation] length_ps");
        continue;
      }
      all.push_back({contestants_[k].label, &*contestants_[k].correlations, has_smallest_step(k)});
    }
    write_correlations(all, provenance, result_.out_dir);
    write_correlation_times(result_, provenance);
    const io::Drawing drawing = draw_correlations(all, correlation_title(), result_.out_dir);
    result_.pictures.insert(result_.pictures.end(), drawing.paths.begin(), drawing.paths.end());
    if (!drawing.warning.empty()) warn(drawing.warning);
  }
  std::string correlation_title() const {
    return fmt::format("Correlation in time, {} water molecules ({})", molecules_,
                       deck_.system.model);
  }

  /// Of those of its scheme.
  bool has_smallest_step(std::size_t k) const {
    const auto step_fs = [&](std::size_t i) { return contestants_[i].deck.integrator.timestep_fs; };
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      if (curves_[i] == curves_[k] && step_fs(i) < step_fs(k)) return false;
    }
    return true;
  }

  void draw_errors() {
    std::vector<CostPoint> points;
    for (std::size_t k = 1; k < result_.schemes.size(); ++k) {
      points.push_back(cost_point(result_.schemes[k]));
      points.back().curve = curves_[k];
    }
    std::vector<CostCurve> curves;
    for (const std::string& scheme : schemes_) curves.push_back({scheme});
    std::vector<io::Plot> plots{error_cost_plot(points, curves, CostOf::potential),
                                error_cost_plot(points, curves, CostOf::distance)};
    std::erase_if(plots, [](const io::Plot& plot) { return plot.series.empty(); });
    if (plots.empty()) return warn("there is no errors.svg: no scheme has an error");
    plots.front().title = fmt::format("Error against cost, {} water molecules ({}), against {}",
                                      molecules_, deck_.system.model, contestants_.front().label);
    plots.back().x_label += "     beside points: step (fs)";
    const io::Drawing drawing = io::draw(plots, result_.out_dir + "/errors");
    result_.pictures.insert(result_.pictures.end(), drawing.paths.begin(), drawing.paths.end());
    if (!drawing.warning.empty()) warn(drawing.warning);
  }

  void tell_energy_orders(const std::string& provenance) {
    std::vector<EnergyPoint> points;
    for (std::size_t k = 0; k < result_.schemes.size(); ++k) {
      const SchemeResult& s = result_.schemes[k];
      points.push_back({curves_[k], s.timestep_fs, s.us_per_ps, s.energy_rms_kcal_per_mol,
                        s.blow_ups.empty(), s.us_per_ps_err});
    }
    result_.orders = energy_orders(points, schemes_);
    write_energy_orders(result_, provenance);
    std::vector<io::Plot> plots = energy_plots(points, result_.orders);
    if (plots.front().series.empty()) {
      warn(
          "there is no errors.svg: no scheme has all of its replicas and two different energies; a "
          "longer run or a smaller every of [observe.energies] may give them");
      return;
    }
    plots.front().title = fmt::format("Conservation of energy, {} water molecules ({}), {:.4g} ps",
                                      molecules_, deck_.system.model, duration_ps());
    const io::Drawing drawing = io::draw(plots, result_.out_dir + "/errors");
    result_.pictures.insert(result_.pictures.end(), drawing.paths.begin(), drawing.paths.end());
    if (!drawing.warning.empty()) warn(drawing.warning);
  }

  /// That was done.
  double duration_ps() const {
    const SchemeResult& s = result_.schemes.front();
    return static_cast<double>(s.steps) * s.timestep_fs * 1e-3;
  }

  void warn(const std::string& text) const {
    if (options_.on_warning) options_.on_warning(text);
  }
  /// That all schemes share.
  const ObserveRdf& rdf() const { return *contestants_.front().deck.rdf; }
  std::vector<double> bin_centres_A() const {
    return analysis::bin_centres_A(rdf().r_max_A, rdf().bins);
  }

  const Deck& deck_;
  const std::vector<std::string>& schemes_;
  const CompareOptions& options_;
  CompareResult& result_;
  std::vector<Contestant> contestants_;
  std::vector<std::size_t> curves_;   // [contestant]
  std::vector<double> wall_seconds_;  // [contestant], of steps
  // [contestant], a value a turn, weighed by its ps of one cluster.
  std::vector<analysis::PooledBlocking> us_per_ps_;
  std::vector<DistancesByClass> distances_;  // [contestant]
  int molecules_ = 0;
};

}  // namespace

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
  const auto add = [&](std::string within, CostOf what, double most) {
    CheapestScheme& best = all.emplace_back();
    best.within = std::move(within);
    std::vector<const SchemeResult*> good;
    for (std::size_t k = 1; k < schemes.size(); ++k) {
      if (is_within(cost_point(schemes[k]), what, most)) good.push_back(&schemes[k]);
    }
    if (good.empty()) return;
    std::stable_sort(good.begin(), good.end(), [](const SchemeResult* a, const SchemeResult* b) {
      return a->us_per_ps < b->us_per_ps;
    });
    const SchemeResult& fastest = *good.front();
    best.label = fastest.label;
    best.us_per_ps = fastest.us_per_ps;
    best.us_per_ps_err = fastest.us_per_ps_err;
    for (std::size_t k = 1; k < good.size(); ++k) {
      if (!as_fast_within_errors(cost_point(fastest), cost_point(*good[k]))) continue;
      best.ties.push_back(good[k]->label);
    }
  };
  for (const double share : {0.3, 0.1, 0.03, 0.01}) {
    if (!(thermal > 0.0)) break;
    add(fmt::format("<V0> to {:g} % of 3(N-1)kT", 100.0 * share), CostOf::potential,
        share * thermal);
  }
  for (const double most : {0.05, 0.02, 0.01}) {
    add(fmt::format("OO histogram to {:g}", most), CostOf::distance, most);
  }
  return all;
}

void compare_water(const Deck& deck, const std::vector<Variant>& variants,
                   const std::vector<std::string>& schemes, const CompareOptions& options,
                   const std::function<void()>& begin, CompareResult& result) {
  Comparison comparison(deck, variants, schemes, options, result);
  begin();
  comparison.go();
}

}  // namespace tarn
