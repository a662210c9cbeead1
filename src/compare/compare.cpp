#include "tarn/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "analysis/rdf.hpp"
#include "deck/notes.hpp"
#include "deck/schema.hpp"
#include "deck/system_limits.hpp"
#include "io/draw.hpp"
#include "io/json.hpp"
#include "io/words.hpp"
#include "observe/rdf_counts.hpp"
#include "run/progress.hpp"
#include "run/run_folder.hpp"
#include "run/run_messages.hpp"
#include "scheme_run.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/csv.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// The columns of compare.csv after the label.
std::vector<std::pair<const char*, double>> columns_of(const SchemeResult& s) {
  return {
      {"cluster_steps_per_s", s.steps_per_second},
      {"ns_per_day", s.ns_per_day},
      {"pair_share", s.pair_share},
      {"bond_share", s.bond_share},
      {"noise_share", s.noise_share},
      {"rest_share", s.rest_share},
      {"iterations_per_step", s.iterations_per_step},
      {"temperature_K", s.temperature_K.mean},
      {"temperature_K_err", s.temperature_K.error},
      {"temperature_translation_K", s.translation_K.mean},
      {"temperature_rotation_K", s.rotation_K.mean},
      {"temperature_bond_K", s.bond_K.mean},
      {"potential_kcal_per_mol", s.potential_kcal_per_mol.mean},
      {"potential_kcal_per_mol_err", s.potential_kcal_per_mol.error},
      {"autocorrelation_ps", s.autocorrelation_ps},
      {"independent_samples_per_s", s.independent_samples_per_second},
      {"constraint_max_A2", s.constraint_max_A2},
      {"oo_total_variation", s.oo_total_variation},
      {"oo_kolmogorov_smirnov", s.oo_kolmogorov_smirnov},
      {"oo_mean_distance_A", s.oo_mean_distance_A},
      {"stopped_replicas", static_cast<double>(s.blow_ups.size())},
      {"timestep_fs", s.timestep_fs},
      {"us_per_ps", s.us_per_ps},
      {"potential_difference_kcal_per_mol", s.potential_difference_kcal_per_mol.mean},
      {"potential_difference_kcal_per_mol_err", s.potential_difference_kcal_per_mol.error},
      {"oo_total_variation_err", s.oo_total_variation_err},
      {"oo_total_variation_noise", s.oo_total_variation_noise},
      {"departed_replicas", static_cast<double>(s.departed_replicas)},
      {"energy_drift_kcal_per_mol_per_ps", s.energy_drift_kcal_per_mol_per_ps.mean},
      {"energy_drift_kcal_per_mol_per_ps_err", s.energy_drift_kcal_per_mol_per_ps.error},
      {"energy_rms_kcal_per_mol", s.energy_rms_kcal_per_mol.mean},
      {"energy_rms_kcal_per_mol_err", s.energy_rms_kcal_per_mol.error},
      {"energy_max_kcal_per_mol", s.energy_max_kcal_per_mol},
      {"momentum_max_Da_A_per_ps", s.momentum_max_Da_A_per_ps},
      {"angular_momentum_max_Da_A2_per_ps", s.angular_momentum_max_Da_A2_per_ps},
      {"us_per_ps_err", s.us_per_ps_err},
  };
}

/// Adds the columns of a quantity to a header.
void add_columns(std::string_view quantity, std::initializer_list<const char*> ends,
                 std::vector<std::string>& header) {
  for (const char* end : ends) header.push_back(fmt::format("{}{}", quantity, end));
}

/// One row per scheme.
void write_schemes(const CompareResult& result, const std::string& provenance) {
  std::vector<std::string> header{"scheme"};
  for (const auto& [name, value] : columns_of({})) header.emplace_back(name);
  std::string meanings = kShareMeanings;
  std::ranges::replace(meanings, '\n', ' ');
  io::CsvTable table(result.out_dir + "/compare.csv", header, provenance + "; " + meanings);
  for (const SchemeResult& s : result.schemes) {
    table.cell(s.label);
    for (const auto& [name, value] : columns_of(s)) table.cell_or_nan(value);
    table.end_row();
  }
  table.write();
}

/// One row per bin and one group of columns per scheme and pair class.
void write_distances(const std::vector<SchemeRun>& runs, const std::string& folder,
                     const std::string& provenance) {
  const ObserveRdf& rdf = *runs.front().deck.rdf;  // equal for all runs
  std::vector<std::string> header{"r_A"};
  std::vector<const DistanceHistogram*> histograms;
  for (const SchemeRun& run : runs) {
    for (int p = 0; p < kPairClasses; ++p) {
      if (!rdf.pairs[p]) continue;
      add_columns(fmt::format("{} {}", run.label, pair_name(p)),
                  {"_count", "_density_per_A", "_density_per_A_err"}, header);
      histograms.push_back(&run.histograms[p]);
    }
  }
  io::CsvTable table(folder + "/rdf.csv", header,
                     provenance +
                         "; probability densities of intermolecular distances: the integral over r "
                         "is 1 minus the part beyond r_max");
  const std::vector<double> centres_A = analysis::bin_centres_A(rdf.r_max_A, rdf.bins);
  for (std::size_t b = 0; b < centres_A.size(); ++b) {
    table.cell(centres_A[b]);
    for (const DistanceHistogram* h : histograms) {
      table.cells(static_cast<std::int64_t>(h->counts[b]), h->density_per_A[b], h->error_per_A[b]);
    }
    table.end_row();
  }
  table.write();
}

/// Time correlation functions, one row per scheme and lag, and their times, one row per scheme.
void write_correlations(const CompareResult& result, const std::vector<SchemeRun>& runs,
                        const std::string& provenance) {
  std::vector<std::string> header = Correlations::header();
  header.insert(header.begin(), "scheme");
  io::CsvTable functions(result.out_dir + "/correlation.csv", header,
                         provenance + "; " + std::string(Correlations::kRemark));
  for (const SchemeRun& run : runs) {
    if (run.has_lost_all_replicas() || !run.correlations->has_rows()) continue;
    for (std::size_t lag = 0; lag <= run.correlations->longest(); ++lag) {
      run.correlations->append_cells(lag, functions.cell(run.label));
      functions.end_row();
    }
  }
  functions.write();
  header = {"scheme", "timestep_fs", "us_per_ps", "stopped_replicas", "interval_fs"};
  const std::vector<std::string> names = Correlations::names_of_times();
  for (const std::string& name : names) add_columns(name, {"", "_err", "_converged"}, header);
  io::CsvTable times(result.out_dir + "/correlation_times.csv", header,
                     provenance +
                         "; integrals of the correlation functions up to the last row; converged = "
                         "0: the error is a lower bound");
  for (const SchemeResult& s : result.schemes) {
    times.cells(s.label, s.timestep_fs).cell_or_nan(s.us_per_ps);
    times.cells(s.blow_ups.size(), s.correlation_interval_fs);
    for (const std::string& name : names) {
      const AveragedQuantity* time = s.correlation_time(name);
      times.cells_or_nan(time ? time->mean : s.kNone, time ? time->error : s.kNone);
      times.cell(int{time && time->converged});
    }
    times.end_row();
  }
  times.write();
}

/// Averages of ring polymers, one row per scheme, and their extrapolations, if there are any.
void write_beads(const CompareResult& result, const BeadMeans& columns,
                 const std::string& provenance) {
  std::vector<std::string> header{"scheme", "beads", "timestep_fs", "us_per_ps"};
  for (const auto& [column, mean] : columns) add_columns(column->name, {"", "_err"}, header);
  io::CsvTable table(result.out_dir + "/beads.csv", header,
                     provenance + "; averages of ring polymers as in path_integral.csv");
  for (const SchemeResult& s : result.schemes) {
    table.cells(s.label, s.beads, s.timestep_fs).cell_or_nan(s.us_per_ps);
    for (const AveragedQuantity& a : s.rings) table.cells_or_nan(a.mean, a.error);
    // The columns after the first four have no values if all replicas were lost.
    for (std::size_t k = 4; s.rings.empty() && k < header.size(); ++k) table.cell_or_nan(s.kNone);
    table.end_row();
  }
  table.write();
  if (result.bead_limits.empty()) return;
  io::CsvTable limits(result.out_dir + "/bead_limits.csv",
                      {"scheme", "quantity", "limit", "limit_err", "c1", "c2", "points", "chi2",
                       "degrees_of_freedom"},
                      provenance + "; fits limit + c1/P^2 + c2/P^4 to the means of beads.csv");
  for (const auto& [label, quantity, fit] : result.bead_limits) {
    limits.cells(label, quantity);
    limits.cells_or_nan(fit.limit.mean, fit.limit.error, fit.c1, fit.c2).cell(fit.points);
    limits.cell_or_nan(fit.chi2).cell(fit.degrees_of_freedom);
    limits.end_row();
  }
  limits.write();
}

void write_orders(const CompareResult& result, const std::string& provenance) {
  io::CsvTable table(result.out_dir + "/orders.csv",
                     {"scheme", "quantity", "order", "spread", "points", "smallest_timestep_fs",
                      "largest_timestep_fs"},
                     provenance + "; convergence order of the rms change of the total energy");
  for (const auto& [label, quantity, fit] : result.orders) {
    table.cells(label, quantity).cells_or_nan(fit.order, fit.spread).cell(fit.points);
    table.cells_or_nan(fit.smallest_step, fit.largest_step);
    table.end_row();
  }
  table.write();
}

/// Writes the tables of a comparison. @param provenance text of the first lines
/// @throws IoError
void write_tables(const CompareResult& result, const std::vector<SchemeRun>& runs,
                  const std::string& provenance) {
  write_schemes(result, provenance);
  write_distances(runs, result.out_dir, provenance);
  if (runs.front().correlations) write_correlations(result, runs, provenance);
  const auto has_rings = [](const SchemeRun& run) { return !run.rings.empty(); };
  const auto with_rings = std::ranges::find_if(runs, has_rings);
  if (with_rings != runs.end()) write_beads(result, with_rings->rings, provenance);
  if (!result.orders.empty()) write_orders(result, provenance);
}

/// Writes `compare.json`: the deck, the schemes, the options and the status of a comparison.
/// @param status "running", "finished", "interrupted" or "failed"
/// @param error reason of a failure
/// @throws IoError
void write_compare_record(const Deck& deck, const std::vector<std::string>& schemes,
                          const CompareOptions& options, const CompareResult& result,
                          std::string_view status, std::string_view error = {}) {
  const auto numbers = [](const auto& values, const auto& text) {
    std::vector<std::string> all;
    for (const auto value : values) all.push_back(text(value));
    return io::json_array(all);
  };
  const auto text_or_null = [](std::string_view text) {
    return text.empty() ? std::string("null") : io::json(text);
  };
  io::JsonObject object;
  object.add("status", io::json(status));
  if (!error.empty()) object.add("error", io::json(error));
  object.add("tarn_version", io::json(std::string_view(kVersion)))
      .add("deck_path", io::json(std::string_view(deck.path)))
      .add("deck", io::json(std::string_view(resolved_deck(deck))))
      .add("schemes", io::json_strings(schemes))
      .add("steps_fs", numbers(options.steps, [](double step) { return io::json(step); }))
      .add("reference", text_or_null(options.reference))
      .add("beads", numbers(options.beads, [](std::int64_t n) { return io::json(n); }))
      .add("free_rings", io::json_strings(options.free_rings))
      .add("frequencies", io::json_strings(options.frequencies))
      .add("device", text_or_null(result.device))
      .add("pictures", io::json_strings(result.pictures));
  io::write_file(result.out_dir + "/compare.json", object.text() + "\n");
}

/// All files that a comparison may write. compare.json, which identifies a comparison, is removed
/// last.
std::vector<std::string_view> file_names() {
  return io::split(
      "compare.csv,orders.csv,rdf.csv,rdf.svg,rdf.png,correlation.csv,correlation_times.csv,"
      "correlation.svg,correlation.png,errors.svg,errors.png,beads.csv,bead_limits.csv,beads.svg,"
      "beads.png,compare.json",
      ',');
}

/// @throws InputError if files in the folder would be lost
void check_output_folder(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (fs::exists(folder + "/run.json", error)) {
    throw InputError(
        folder + " contains a run, whose tables would be lost: choose another folder with --out");
  }
  if (overwrite) return;
  for (const std::string_view name : file_names()) {
    if (!fs::exists(fmt::format("{}/{}", folder, name), error)) continue;
    throw InputError(
        fmt::format("{} already contains {}, which would be replaced: choose another folder with "
                    "--out, or use --overwrite",
                    folder, name));
  }
}

/// Time correlations of a run may use all of the allowed memory; here all variants share it.
/// @throws InputError
void check_correlation_size(const std::vector<Variant>& variants, int molecules) {
  double numbers = 0.0;
  for (const Variant& v : variants) numbers += decks::correlation_numbers(v.deck, molecules);
  if (numbers <= analysis::kMaxCorrelationNumbers) return;
  throw InputError(fmt::format(
      "the time correlations of {} schemes need to store {:.2g} numbers, and at most {:.0e} are "
      "allowed. Compare fewer schemes, or change every, length_ps or replicas in "
      "[observe.correlation]",
      variants.size(), numbers, analysis::kMaxCorrelationNumbers));
}

/// The runs of all variants.
class Comparison {
 public:
  Comparison(const Deck& deck, const std::vector<Variant>& variants, const CompareOptions& options,
             CompareResult& result)
      : deck_(deck), options_(options), result_(result) {
    tell_about_deck();
    std::vector<std::shared_ptr<const Start>> starts;
    std::shared_ptr<Potential> potential;  // of all variants; null: the water model
    const auto add_run = [&](Variant variant, const Start& start) {
      runs_.emplace_back(std::move(variant), start, options.make_engine, potential);
    };
    for (const Variant& v : variants) {
      starts.push_back(next_start(variants, starts));
      if (starts.size() == 1) {
        result_.molecules = starts.front()->state.molecules;
        check_correlation_size(variants, result_.molecules);
        potential = potential_of(deck, result_.molecules, options.potential,
                                 {options.interrupted, options.on_message});
      }
      add_run(v, *starts.back());
      for (const Message& message : starts.back()->messages) emit(v.label, message);
    }
    // Device "auto" may have selected the CPU for some schemes only.
    if (std::ranges::any_of(runs_, [&](const SchemeRun& run) {
          return run.engine->arithmetic() != runs_.front().engine->arithmetic();
        })) {
      emit(Message::note(
          "not all schemes can run on the GPU, so all of them run on the CPU for comparison"));
      runs_.clear();
      for (std::size_t k = 0; k < variants.size(); ++k) {
        Variant on_cpu = variants[k];
        on_cpu.deck.run.device = "cpu";
        add_run(std::move(on_cpu), *starts[k]);
      }
    }
    result_.device = runs_.front().engine->description();
    if (deck_.correlation) warn_about_correlations();
  }

  void run() {
    advance();
    for (SchemeRun& run : runs_) run.take_histograms();
    for (const SchemeRun& run : runs_) {
      result_.schemes.push_back(run.result(runs_.front()));
      report_blow_ups(run);
      for (const Message& warning : run.warnings()) emit(run.label, warning);
    }
    if (!options_.steps.empty()) warn_about_short_timings();
    for (const SchemeRun& run : runs_) {
      const bool is_lost = run.has_lost_all_replicas();
      if (is_lost || !run.correlations || run.correlations->has_rows()) continue;
      warn(run.label +
           ": no correlations, because no replica was observed for a complete window, about "
           "twice [observe.correlation] length_ps");
    }
    if (!options_.beads.empty()) result_.bead_limits = bead_limits(result_.schemes);
    if (!options_.steps.empty() && !has_thermostat(deck_)) {
      result_.orders = energy_orders(result_.schemes);
    }
    // Labels contain the keys of the schemes; all other settings are equal.
    write_tables(result_, runs_, provenance_of(runs_.front().deck, result_.molecules));
  }

 private:
  /// A comparison takes its settings from [observe.energies], [observe.rdf] and
  /// [observe.correlation], and averages ring polymers.
  void tell_about_deck() const {
    std::vector<std::string> unused;
    for (const decks::Section& section : decks::water_schema().sections) {
      if (!section.name.starts_with("observe.") || !section.present(deck_)) continue;
      const std::string_view name = section.name.substr(section.name.find('.') + 1);
      if (name == "energies" || name == "rdf" || name == "correlation" || name == "path_integral") {
        continue;
      }
      unused.push_back(fmt::format("[{}]", section.name));
    }
    if (!unused.empty()) {
      emit(Message::note(fmt::format("tarn compare ignores {}, which only tarn run uses",
                                     fmt::join(unused, ", "))));
    }
    if (has_several_baths(bath_temperatures_K(deck_))) {
      emit(Message::note("means and histograms of distances pool all temperatures"));
    }
  }

  /// Start of the next variant; variants with equal starts share it.
  /// @throws StartInterrupted
  std::shared_ptr<const Start> next_start(
      const std::vector<Variant>& variants,
      const std::vector<std::shared_ptr<const Start>>& starts) const {
    const Deck& deck = variants[starts.size()].deck;
    int before = 0, all = 0;  // replicas
    for (std::size_t k = 0; k < variants.size(); ++k) {
      if (k < starts.size()) {
        if (have_equal_starts(variants[k].deck, deck)) return starts[k];
        before += variants[k].deck.system.replicas;
      }
      all += variants[k].deck.system.replicas;
    }
    return std::make_shared<const Start>(make_start(deck, [&](int done, int) {
      if (options_.on_preparation) options_.on_preparation(before + done, all);
      return !is_interrupted();
    }));
  }

  /// Warns about requested correlations that cannot be computed or compared.
  void warn_about_correlations() const {
    const SchemeRun& first = runs_.front();
    const double first_fs = first.correlation_interval_fs();
    std::vector<std::string> others;
    for (const SchemeRun& run : runs_) {
      if (const auto warning = decks::warning_of_correlation(run.deck)) emit(run.label, *warning);
      const double interval_fs = run.correlation_interval_fs();
      if (interval_fs == first_fs) continue;
      others.push_back(fmt::format("{:g} fs ({})", interval_fs, run.label));
    }
    if (others.empty()) return;
    warn(fmt::format(
        "correlations are sampled every {:g} fs ({}), but every {}: hydrogen-bond lifetimes depend "
        "on this interval and are not compared. Choose an interval that is a multiple of all steps",
        first_fs, first.label, fmt::join(others, ", ")));
  }

  /// Interleaves the runs in short slices, so that other load on the machine affects all of them
  /// equally. A slice takes about a quarter of a second, and at most a fortieth of the whole.
  void advance() {
    const std::int64_t total = deck_.run.steps, longest = std::max<std::int64_t>(total / 40, 1);
    const auto count = std::ssize(runs_);
    if (options_.on_start) {
      options_.on_start({result_.out_dir, result_.device, result_.molecules, deck_.system.replicas,
                         0, total * count});
    }
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t done = 0;
    const auto report_progress = [&] {
      if (!options_.on_progress) return;
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      options_.on_progress(progress_of(done * count, 0, total * count, elapsed.count(),
                                       deck_.integrator.timestep_fs, deck_.system.replicas));
    };
    for (SchemeRun& run : runs_) run.sample();
    Pace pace;
    while (done < total) {
      const std::int64_t steps = std::min({longest, pace.steps(), total - done});
      done += steps;
      const double part = static_cast<double>(done) / static_cast<double>(total);
      for (SchemeRun& run : runs_) {
        const std::int64_t own = run.deck.run.steps;
        run.advance_to(own == total ? done : std::llround(part * static_cast<double>(own)));
      }
      pace.note(steps);
      if (!pace.is_time_to_report()) continue;
      report_progress();
      if (is_interrupted()) break;
    }
    report_progress();
    result_.interrupted = done < total;
  }

  void report_blow_ups(const SchemeRun& run) const {
    constexpr std::size_t kMaxWarnings = 3;
    const bool all_lost = run.has_lost_all_replicas();
    const std::vector<BlowUp> blow_ups = run.engine->blow_ups();
    for (std::size_t k = 0; k < blow_ups.size(); ++k) {
      const std::string text =
          run.label + ": " +
          describe(blow_ups[k], run.deck, run.engine->report().indefinite_hessians, run.molecules) +
          (all_lost ? "" : " The averages include its samples before the blow-up.");
      if (options_.on_blow_up) options_.on_blow_up(blow_ups[k], text);
      if (k < kMaxWarnings) warn(text);
    }
    if (blow_ups.size() > kMaxWarnings) {
      warn(fmt::format("{}: {} more replicas failed", run.label, blow_ups.size() - kMaxWarnings));
    }
    if (all_lost) warn(run.label + ": no replica is left, so its speed and averages are unknown");
  }

  /// Costs measured over a short time are not reproducible.
  void warn_about_short_timings() const {
    constexpr double kEnoughSeconds = 1.0;
    std::vector<const SchemeRun*> few;
    for (const SchemeRun& run : runs_) {
      if (!run.has_lost_all_replicas() && run.wall_seconds < kEnoughSeconds) few.push_back(&run);
    }
    if (few.empty()) return;
    const SchemeRun* shortest = *std::ranges::min_element(few, {}, &SchemeRun::wall_seconds);
    warn(fmt::format(
        "costs are uncertain: {} of {} schemes were timed for less than {:g} s, {} for only "
        "{:.2g} s. Use a longer run or more replicas",
        few.size(), runs_.size(), kEnoughSeconds, shortest->label, shortest->wall_seconds));
  }

  bool is_interrupted() const { return options_.interrupted && options_.interrupted(); }

  void emit(const Message& message) const {
    if (options_.on_message) options_.on_message(message);
  }
  void emit(const std::string& label, const Message& message) const {
    emit({message.level, label + ": " + message.text});
  }
  void warn(const std::string& text) const { emit(Message::warning(text)); }

  const Deck& deck_;
  const CompareOptions& options_;
  CompareResult& result_;
  std::vector<SchemeRun> runs_;  // one per variant
};

}  // namespace

CompareResult compare_schemes(const Deck& given, const std::vector<std::string>& schemes,
                              const CompareOptions& options) {
  const Deck deck = options.potential ? with_potential(given, options.potential->name()) : given;
  const std::vector<Variant> variants = make_variants(deck, schemes, options);
  CompareResult result;
  result.out_dir = options.out_dir.empty() ? "out/" + deck.name + "-compare" : options.out_dir;
  const auto record = [&](std::string_view status, std::string_view error = {}) {
    write_compare_record(deck, schemes, options, result, status, error);
  };
  const auto emit = [&](const Message& message) {
    if (options.on_message) options.on_message(message);
  };
  check_output_folder(result.out_dir, options.overwrite);
  Comparison comparison(deck, variants, options, result);
  // No file is changed before initial states and engines are ready; from then on compare.json
  // describes the tables, even after a failure.
  io::make_folder(result.out_dir);
  const FolderLock lock(result.out_dir);
  check_output_folder(result.out_dir, options.overwrite);
  for (const std::string_view name : file_names()) {
    std::error_code error;
    const std::string path = fmt::format("{}/{}", result.out_dir, name);
    fs::remove(path, error);
    if (error) io::throw_io_error("remove", path, error.value());
  }
  try {
    if (lock.note()) emit(*lock.note());
    record("running");
    comparison.run();
  } catch (const std::exception& failure) {
    try {
      record("failed", failure.what());
    } catch (const std::exception&) {  // report the first error
    }
    throw;
  }
  if (options.pictures) {
    Pictures pictures = io::draw_pictures(result.out_dir);
    result.pictures = std::move(pictures.paths);
    for (const Message& message : pictures.messages) emit(message);
  }
  record(result.interrupted ? "interrupted" : "finished");
  return result;
}

}  // namespace tarn
