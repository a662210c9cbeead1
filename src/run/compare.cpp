#include "tarn/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "blow_up.hpp"
#include "contestant.hpp"
#include "folder_lock.hpp"
#include "mechanics_compare.hpp"
#include "mechanics_run.hpp"
#include "progress.hpp"
#include "tarn/analysis/histogram.hpp"
#include "tarn/analysis/rdf.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/observe/observers.hpp"
#include "turns.hpp"

namespace tarn {
namespace {

void prepare_folder(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (!overwrite && std::filesystem::exists(folder + "/compare.csv", error)) {
    throw InputError(folder +
                     " holds a comparison already: choose another folder with --out, or "
                     "use --overwrite");
  }
  io::make_folder(folder);
}

void write_table(const CompareResult& result, const std::string& provenance) {
  const std::string path = result.out_dir + "/compare.csv";
  io::CsvFormat csv(path, {"scheme",
                           "cluster_steps_per_s",
                           "ns_per_day",
                           "pair_share",
                           "bond_share",
                           "noise_share",
                           "rest_share",
                           "iterations_per_step",
                           "temperature_K",
                           "temperature_K_err",
                           "temperature_translation_K",
                           "temperature_rotation_K",
                           "temperature_bond_K",
                           "potential_kcal_per_mol",
                           "potential_kcal_per_mol_err",
                           "autocorrelation_ps",
                           "independent_samples_per_s",
                           "constraint_max_A2",
                           "oo_total_variation",
                           "oo_kolmogorov_smirnov",
                           "oo_mean_distance_A",
                           "stopped_replicas"});
  std::string text = csv.head(provenance);
  for (const SchemeResult& s : result.schemes) {
    csv.cell(std::string_view(s.label));
    for (const double number : {s.steps_per_second,
                                s.ns_per_day,
                                s.pair_share,
                                s.bond_share,
                                s.noise_share,
                                s.rest_share,
                                s.iterations_per_step,
                                s.temperature_K.mean,
                                s.temperature_K.error,
                                s.translation_K.mean,
                                s.rotation_K.mean,
                                s.bond_K.mean,
                                s.potential_kcal_per_mol.mean,
                                s.potential_kcal_per_mol.error,
                                s.autocorrelation_ps,
                                s.independent_samples_per_second,
                                s.constraint_max_A2,
                                s.oo_total_variation,
                                s.oo_kolmogorov_smirnov,
                                s.oo_mean_distance_A}) {
      csv.cell_or_nan(number);
    }
    csv.cell(static_cast<std::int64_t>(s.blow_ups.size()));
    text += csv.row();
  }
  io::write_file(path, text);
}

/// The deck once for each scheme, with what the options replace.
std::vector<Deck> make_variants(const Deck& deck, const std::vector<std::string>& schemes,
                                const CompareOptions& options) {
  if (schemes.empty()) throw InputError("no schemes to compare: give --schemes shake,zss-stiff");
  if (std::set<std::string>(schemes.begin(), schemes.end()).size() != schemes.size()) {
    throw InputError("a scheme is named twice in --schemes");
  }
  if (deck.exchange) {
    throw InputError(deck.path +
                     ": schemes are compared without replica exchange; leave it out with --unset "
                     "exchange");
  }
  std::vector<Deck> variants;
  for (const std::string& scheme : schemes) {
    Deck variant = with_scheme(deck, scheme);
    if (!variant.rdf) variant.rdf = ObserveRdf{};
    if (options.device) variant.run.device = *options.device;
    if (options.threads) variant.run.threads = *options.threads;
    variants.push_back(std::move(variant));
  }
  return variants;
}

/// Nothing that replicas did which are all gone tells what a scheme costs or finds.
void forget_numbers(SchemeResult& s) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  for (double SchemeResult::*number :
       {&SchemeResult::steps_per_second, &SchemeResult::ns_per_day, &SchemeResult::pair_share,
        &SchemeResult::bond_share, &SchemeResult::noise_share, &SchemeResult::rest_share,
        &SchemeResult::iterations_per_step, &SchemeResult::autocorrelation_ps,
        &SchemeResult::independent_samples_per_second, &SchemeResult::oo_total_variation,
        &SchemeResult::oo_kolmogorov_smirnov, &SchemeResult::oo_mean_distance_A}) {
    s.*number = kNone;
  }
  for (analysis::MeanError SchemeResult::*mean :
       {&SchemeResult::temperature_K, &SchemeResult::translation_K, &SchemeResult::rotation_K,
        &SchemeResult::bond_K, &SchemeResult::potential_kcal_per_mol}) {
    s.*mean = {kNone, kNone};
  }
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
  Comparison(const Deck& deck, const std::vector<Deck>& variants,
             const std::vector<std::string>& schemes, const CompareOptions& options,
             CompareResult& result)
      : deck_(deck), options_(options), result_(result), wall_seconds_(schemes.size()) {
    for (std::size_t k = 0; k < schemes.size(); ++k) {
      std::vector<std::string> notes;
      contestants_.push_back(make_contestant(variants[k], schemes[k], notes));
      for (const std::string& note : notes) warn(schemes[k] + ": " + note);
    }
    result_.device = contestants_.front().engine->description();
    molecules_ = contestants_.front().engine->state().molecules;
  }

  void go() {
    run();
    for (const Contestant& c : contestants_) distances_.push_back(all_distances(c));
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      result_.schemes.push_back(result_of(k));
      tell_blow_ups(result_.schemes.back(), contestants_[k]);
    }
    // The schemes' own keys are in the labels; what is left is the same for all of them.
    const std::string provenance = provenance_of(contestants_.front().deck, molecules_);
    write_table(result_, provenance);
    write_rdf(provenance);
    draw_oo();
  }

 private:
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
            Contestant& c = contestants_[k];
            wall_seconds_[k] += c.advance_to(own_part(c.deck.run.steps, step, total)).wall_seconds;
          }
        },
        [&](std::int64_t step) {
          tell_progress(step);
          return !(options_.interrupted && options_.interrupted());
        });
    tell_progress(done);
    result_.interrupted = done < total;
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
    if (is_gone(c)) {
      forget_numbers(s);
      return s;
    }
    if (wall_seconds_[k] > 0.0) {
      s.steps_per_second = static_cast<double>(replica_steps(c)) / wall_seconds_[k];
    }
    s.ns_per_day = ns_per_day(s.steps_per_second, c.deck.integrator.timestep_fs);
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
    const std::vector<double>& first = distances_.front()[kOO].counts;
    const std::vector<double>& own = distances_[k][kOO].counts;
    s.oo_total_variation = s.oo_kolmogorov_smirnov = std::numeric_limits<double>::quiet_NaN();
    if (!is_gone(contestants_.front())) {
      s.oo_total_variation = analysis::total_variation(first, own);
      s.oo_kolmogorov_smirnov = analysis::kolmogorov_smirnov(first, own);
    }
    const double count = std::accumulate(own.begin(), own.end(), 0.0);
    if (count > 0.0) {
      const std::vector<double> centres = bin_centres_A();
      s.oo_mean_distance_A =
          std::inner_product(own.begin(), own.end(), centres.begin(), 0.0) / count;
    }
    return s;
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
    const bool gone = is_gone(c);
    for (const BlowUp& b : s.blow_ups) {
      const std::string text = s.label + ": " +
                               describe(b, c.deck, c.engine->report().indefinite_hessians) +
                               (gone ? "" : " Its samples until then stay in the means.");
      if (options_.on_blow_up) options_.on_blow_up(b, text);
      warn(text);
    }
    if (gone) warn(s.label + ": no replica is left, so it has no speed and no means");
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

  void draw_oo() {
    io::Plot plot;
    plot.title = "Oxygen-oxygen distances, " + std::to_string(molecules_) + " water molecules (" +
                 deck_.system.model + ")";
    plot.x_label = "r (Å)";
    plot.y_label = "probability density (1/Å)";
    const std::vector<double> centres = bin_centres_A();
    const auto occupied = [&](std::size_t b) {
      return std::any_of(distances_.begin(), distances_.end(),
                         [&](const auto& d) { return d[kOO].counts[b] > 0.0; });
    };
    std::size_t low = 0, high = centres.size();
    while (low < high && !occupied(low)) ++low;
    while (high > low && !occupied(high - 1)) --high;
    double top = 0.0;
    for (const DistancesByClass& d : distances_) {
      for (double density : d[kOO].density_per_A) top = std::max(top, density);
    }
    if (top > 0.0) plot.y_range = {{0.0, 1.1 * top}};
    if (low < high) plot.x_range = {{centres[low] - 0.2, centres[high - 1] + 0.2}};
    for (std::size_t k = 0; k < contestants_.size(); ++k) {
      if (is_gone(contestants_[k])) continue;
      io::Series series;
      series.label = contestants_[k].label;
      series.x = centres;
      series.y = distances_[k][kOO].density_per_A;
      series.set_error(distances_[k][kOO].error_per_A);
      series.style = io::Series::Style::steps;
      plot.series.push_back(std::move(series));
    }
    const io::Drawing drawing = io::draw(plot, result_.out_dir + "/rdf");
    result_.pictures = drawing.paths;
    if (!drawing.warning.empty()) warn(drawing.warning);
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
  const CompareOptions& options_;
  CompareResult& result_;
  std::vector<Contestant> contestants_;
  std::vector<double> wall_seconds_;         // [contestant], of steps
  std::vector<DistancesByClass> distances_;  // [contestant]
  int molecules_ = 0;
};

}  // namespace

CompareResult compare_schemes(const Deck& deck, const std::vector<std::string>& schemes,
                              const CompareOptions& options) {
  const std::vector<Deck> variants = make_variants(deck, schemes, options);
  CompareResult result;
  result.out_dir = options.out_dir.empty() ? "out/" + deck.name + "-compare" : options.out_dir;
  const bool mechanical = is_mechanical(deck.system.kind);
  if (mechanical) refuse_cuda(options.device);
  prepare_folder(result.out_dir, options.overwrite);
  const FolderLock lock(result.out_dir);
  if (mechanical) {
    compare_mechanics(variants, schemes, options, result);
  } else {
    Comparison(deck, variants, schemes, options, result).go();
  }
  return result;
}

}  // namespace tarn
