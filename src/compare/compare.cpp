#include "tarn/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "deck/notes.hpp"
#include "deck/schema.hpp"
#include "deck/system_limits.hpp"
#include "io/draw.hpp"
#include "run/progress.hpp"
#include "run/run_folder.hpp"
#include "run/run_messages.hpp"
#include "scheme_run.hpp"
#include "tables.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// All files that a comparison may write. compare.json, which identifies a comparison, is removed
/// last.
constexpr const char* kFiles[] = {"compare.csv",
                                  "orders.csv",
                                  "rdf.csv",
                                  "rdf.svg",
                                  "rdf.png",
                                  "correlation.csv",
                                  "correlation_times.csv",
                                  "correlation.svg",
                                  "correlation.png",
                                  "errors.svg",
                                  "errors.png",
                                  "beads.csv",
                                  "bead_limits.csv",
                                  "beads.svg",
                                  "beads.png",
                                  "compare.json"};

/// @throws InputError if files in the folder would be lost
void check_output_folder(const std::string& folder, bool overwrite) {
  std::error_code error;
  if (fs::exists(folder + "/run.json", error)) {
    throw InputError(
        folder + " contains a run, whose tables would be lost: choose another folder with --out");
  }
  if (overwrite) return;
  for (const char* name : kFiles) {
    if (!fs::exists(folder + "/" + name, error)) continue;
    throw InputError(
        fmt::format("{} already contains {}, which would be replaced: choose another folder with "
                    "--out, or use --overwrite",
                    folder, name));
  }
}

/// Creates and locks the folder, and removes the files of an earlier comparison.
void prepare_output_folder(const std::string& folder, bool overwrite,
                           std::optional<FolderLock>& lock) {
  io::make_folder(folder);
  lock.emplace(folder);
  check_output_folder(folder, overwrite);
  std::error_code error;
  for (const char* name : kFiles) {
    const std::string path = folder + "/" + name;
    fs::remove(path, error);
    if (error) io::throw_io_error("remove", path, error.value());
  }
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
  if (std::find(schemes.begin(), schemes.end(), "") != schemes.end()) {
    throw InputError("--schemes contains an empty scheme: remove the extra comma");
  }
  if (std::set<std::string>(schemes.begin(), schemes.end()).size() != schemes.size()) {
    throw InputError("--schemes: each scheme must be given only once");
  }
  if (deck.exchange) {
    throw InputError(
        deck.path +
        ": tarn compare does not support replica exchange; remove it with --unset exchange");
  }
}

/// Sections of the deck that only `tarn run` uses. A comparison takes its settings from
/// [observe.energies], [observe.rdf] and [observe.correlation], and averages ring polymers.
std::vector<std::string> unused_sections(const Deck& deck) {
  std::vector<std::string> names;
  for (const decks::Section& section : decks::water_schema().sections) {
    if (!section.name.starts_with("observe.") || !section.present(deck)) continue;
    const std::string_view name = section.name.substr(section.name.find('.') + 1);
    if (name == "energies" || name == "rdf" || name == "correlation" || name == "path_integral") {
      continue;
    }
    names.push_back(fmt::format("[{}]", section.name));
  }
  return names;
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

/// Interleaves several runs in short slices, so that other load on the machine affects all of them
/// equally. A slice takes about a quarter of a second, and at most a fortieth of the whole.
/// @param advance_to advances all runs to a step
/// @param on_report called about twice a second, between slices; returning false stops the runs
/// @return the step that all runs have reached
std::int64_t run_interleaved(std::int64_t total_steps,
                             const std::function<void(std::int64_t step)>& advance_to,
                             const std::function<bool(std::int64_t step)>& on_report) {
  constexpr std::int64_t kMinSlices = 40;
  const std::int64_t longest = std::max<std::int64_t>(total_steps / kMinSlices, 1);
  Pace pace;
  std::int64_t done = 0;
  while (done < total_steps) {
    const std::int64_t steps = std::min({longest, pace.steps(), total_steps - done});
    advance_to(done + steps);
    done += steps;
    pace.note(steps);
    if (pace.is_time_to_report() && !on_report(done)) break;
  }
  return done;
}

/// The step of a run of `run_steps` when one of `total_steps` has reached `step`.
std::int64_t proportional_step(std::int64_t run_steps, std::int64_t step,
                               std::int64_t total_steps) {
  if (run_steps == total_steps) return step;
  if (step == total_steps) return run_steps;
  const double part = static_cast<double>(step) / static_cast<double>(total_steps);
  return std::llround(part * static_cast<double>(run_steps));
}

/// A comparison of schemes for water.
class WaterComparison {
 public:
  WaterComparison(const Deck& deck, const std::vector<Variant>& variants,
                  const CompareOptions& options, CompareResult& result)
      : deck_(deck), variants_(variants), options_(options), result_(result) {
    tell_about_deck();
    std::vector<std::shared_ptr<const Start>> starts;
    for (const Variant& v : variants) {
      starts.push_back(next_start(starts));
      if (starts.size() == 1) {
        check_correlation_size(variants, starts.front()->state.molecules);
        potential_ = potential_of(deck, starts.front()->state.molecules, options.potential,
                                  {options.interrupted, options.on_message});
      }
      runs_.push_back(
          make_scheme_run(v.deck, v.label, *starts.back(), options.make_engine, potential_));
      for (const Message& message : starts.back()->messages) emit(v.label, message);
    }
    if (!use_same_arithmetic()) {
      emit(Message::note(
          "not all schemes can run on the GPU, so all of them run on the CPU for comparison"));
      for (std::size_t k = 0; k < variants.size(); ++k) {
        Deck on_cpu = variants[k].deck;
        on_cpu.run.device = "cpu";
        runs_[k] =
            make_scheme_run(on_cpu, variants[k].label, *starts[k], options.make_engine, potential_);
      }
    }
    result_.device = runs_.front().engine->description();
    molecules_ = result_.molecules = runs_.front().molecules;
    if (deck_.correlation) warn_about_correlations();
  }

  void run() {
    run_schemes();
    for (SchemeRun& run : runs_) run.take_histograms();
    for (const SchemeRun& run : runs_) {
      result_.schemes.push_back(scheme_result(run, runs_.front()));
      report_blow_ups(result_.schemes.back(), run);
      for (const Message& warning : end_warnings(run)) emit(run.label, warning);
    }
    if (!options_.steps.empty()) warn_about_short_timings();
    write_files();
  }

 private:
  // --- preparation ---

  void tell_about_deck() const {
    const std::vector<std::string> unused = unused_sections(deck_);
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
      const std::vector<std::shared_ptr<const Start>>& starts) const {
    const Deck& deck = variants_[starts.size()].deck;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      if (have_equal_starts(variants_[k].deck, deck)) return starts[k];
    }
    const auto replicas_before = [&](std::size_t end) {
      int replicas = 0;
      for (std::size_t k = 0; k < end; ++k) replicas += variants_[k].deck.system.replicas;
      return replicas;
    };
    const auto should_continue = [&](int done, int) {
      if (options_.on_preparation) {
        options_.on_preparation(replicas_before(starts.size()) + done,
                                replicas_before(variants_.size()));
      }
      return !is_interrupted();
    };
    return std::make_shared<const Start>(make_start(deck, should_continue));
  }

  /// False if device "auto" selected the CPU for some schemes only.
  bool use_same_arithmetic() const {
    const std::string first = runs_.front().engine->arithmetic();
    return std::all_of(runs_.begin(), runs_.end(),
                       [&](const SchemeRun& run) { return run.engine->arithmetic() == first; });
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

  // --- run ---

  void run_schemes() {
    const std::int64_t total = deck_.run.steps;
    const auto count = static_cast<std::int64_t>(runs_.size());
    if (options_.on_start) {
      options_.on_start(
          {result_.out_dir, result_.device, molecules_, deck_.system.replicas, 0, total * count});
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto report_progress = [&](std::int64_t step) {
      if (!options_.on_progress) return;
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      options_.on_progress(progress_of(step * count, 0, total * count, elapsed.count(),
                                       deck_.integrator.timestep_fs, deck_.system.replicas));
    };
    for (SchemeRun& run : runs_) run.sample();
    const std::int64_t done = run_interleaved(
        total,
        [&](std::int64_t step) {
          for (SchemeRun& run : runs_) {
            run.advance_to(proportional_step(run.deck.run.steps, step, total));
          }
        },
        [&](std::int64_t step) {
          report_progress(step);
          return !is_interrupted();
        });
    report_progress(done);
    result_.interrupted = done < total;
  }

  void report_blow_ups(const SchemeResult& s, const SchemeRun& run) const {
    constexpr std::size_t kMaxWarnings = 3;
    const bool all_lost = run.has_lost_all_replicas();
    for (std::size_t k = 0; k < s.blow_ups.size(); ++k) {
      const BlowUp& b = s.blow_ups[k];
      const std::string text =
          s.label + ": " +
          describe(b, run.deck, run.engine->report().indefinite_hessians, molecules_) +
          (all_lost ? "" : " The averages include its samples before the blow-up.");
      if (options_.on_blow_up) options_.on_blow_up(b, text);
      if (k < kMaxWarnings) warn(text);
    }
    if (s.blow_ups.size() > kMaxWarnings) {
      warn(fmt::format("{}: {} more replicas failed", s.label, s.blow_ups.size() - kMaxWarnings));
    }
    if (all_lost) warn(s.label + ": no replica is left, so its speed and averages are unknown");
  }

  /// Costs measured over a short time are not reproducible.
  void warn_about_short_timings() const {
    constexpr double kEnoughSeconds = 1.0;
    std::size_t count = 0;
    const SchemeRun* shortest = nullptr;
    for (const SchemeRun& run : runs_) {
      if (run.has_lost_all_replicas() || run.wall_seconds >= kEnoughSeconds) continue;
      ++count;
      if (!shortest || run.wall_seconds < shortest->wall_seconds) shortest = &run;
    }
    if (!shortest) return;
    warn(fmt::format(
        "costs are uncertain: {} of {} schemes were timed for less than {:g} s, {} for only "
        "{:.2g} s. Use a longer run or more replicas",
        count, runs_.size(), kEnoughSeconds, shortest->label, shortest->wall_seconds));
  }

  // --- files ---

  void write_files() {
    // Labels contain the keys of the schemes; all other settings are equal.
    const std::string provenance = provenance_of(runs_.front().deck, molecules_);
    write_scheme_table(result_, provenance);
    write_distances(runs_, provenance, result_.out_dir);
    if (deck_.correlation) write_correlation_files(provenance);
    if (std::ranges::any_of(runs_, [](const SchemeRun& r) { return r.rings.has_value(); })) {
      write_ring_files(provenance);
    }
    if (!options_.steps.empty() && !has_thermostat(deck_)) {
      result_.orders = energy_orders(result_.schemes, variants_);
      write_energy_orders(result_, provenance);
    }
  }

  void write_correlation_files(const std::string& provenance) {
    std::vector<const SchemeRun*> with_rows;
    for (const SchemeRun& run : runs_) {
      if (run.has_lost_all_replicas()) continue;
      if (!run.correlations->has_rows()) {
        warn(run.label +
             ": no correlations, because no replica was observed for a complete window, about "
             "twice [observe.correlation] length_ps");
        continue;
      }
      with_rows.push_back(&run);
    }
    write_correlations(with_rows, provenance, result_.out_dir);
    write_correlation_times(result_, provenance);
  }

  void write_ring_files(const std::string& provenance) {
    write_beads(result_, provenance);
    if (!options_.beads.empty()) {
      result_.bead_limits = bead_limits(result_.schemes, variants_);
      if (!result_.bead_limits.empty()) write_bead_limits(result_, provenance);
    }
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
  const std::vector<Variant>& variants_;
  const CompareOptions& options_;
  CompareResult& result_;
  std::vector<SchemeRun> runs_;  // one per variant
  int molecules_ = 0;
  std::shared_ptr<Potential> potential_;  ///< of all variants; null: the water model
};

}  // namespace

CompareResult compare_schemes(const Deck& given, const std::vector<std::string>& schemes,
                              const CompareOptions& options) {
  const Deck deck = options.potential ? with_potential(given, options.potential->name()) : given;
  check_request(deck, schemes, options);
  CompareResult result;
  result.out_dir = options.out_dir.empty() ? "out/" + deck.name + "-compare" : options.out_dir;
  check_output_folder(result.out_dir, options.overwrite);
  const auto record = [&](std::string_view status, std::string_view error = {}) {
    write_compare_record(deck, schemes, options, result, status, error);
  };
  // Called when initial states and engines are ready. No file is changed before; from then on
  // compare.json describes the tables, even after a failure.
  std::optional<FolderLock> lock;
  bool has_begun = false;
  const auto begin = [&] {
    prepare_output_folder(result.out_dir, options.overwrite, lock);
    has_begun = true;
    if (lock->note() && options.on_message) options.on_message(*lock->note());
    record("running");
  };
  try {
    const std::vector<Variant> variants = make_variants(deck, schemes, options);
    WaterComparison comparison(deck, variants, options, result);
    begin();
    comparison.run();
  } catch (const std::exception& failure) {
    try {
      if (has_begun) record("failed", failure.what());
    } catch (const std::exception&) {  // report the first error
    }
    throw;
  }
  if (options.pictures) {
    Pictures pictures = io::draw_pictures(result.out_dir);
    result.pictures = std::move(pictures.paths);
    for (const Message& message : pictures.messages) {
      if (options.on_message) options.on_message(message);
    }
  }
  record(result.interrupted ? "interrupted" : "finished");
  return result;
}

}  // namespace tarn
