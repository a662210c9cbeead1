#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "checkpointer.hpp"
#include "core/text.hpp"
#include "deck/notes.hpp"
#include "engine/device_engine.hpp"
#include "io/draw.hpp"
#include "observe/warnings.hpp"
#include "parallel/frame_parts.hpp"
#include "physics/temperature_ladder.hpp"
#include "progress.hpp"
#include "replica_exchange.hpp"
#include "run_folder.hpp"
#include "run_messages.hpp"
#include "run_observers.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck_potential.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/physics/isotopes.hpp"
#include "tarn/start.hpp"
#include "tarn/version.hpp"

namespace tarn {
namespace {

// Maximum numbers of similar warnings and files; run.json lists all.
constexpr std::size_t kMostBlowUpWarnings = 3;
constexpr std::size_t kMostBlowUpFiles = 100;
constexpr std::size_t kMostEventWarnings = 5;
/// Acceptance below which a pair of neighbours is a bottleneck of the ladder.
constexpr double kRareExchange = 0.07;

std::string rare_exchange_text(double acceptance) {
  constexpr double kNever = 1e-8;
  if (acceptance < kNever) return "never exchange; use the temperatures that tarn check proposes";
  return fmt::format(
      "exchange in only {:.2g} % of the attempts; add {} between them to temperatures_K",
      100.0 * acceptance, count_text(intervals_for_acceptance(acceptance) - 1, "temperature"));
}

/// Creates the observers and skips makers that return null.
std::vector<std::unique_ptr<Observer>> custom_observers(const std::vector<ObserverMaker>& makers,
                                                        const RunInfo& run) {
  std::vector<std::unique_ptr<Observer>> own;
  for (const ObserverMaker& make : makers) {
    if (!make) throw InputError("RunOptions::observers contains an empty function");
    if (std::unique_ptr<Observer> observer = make(run)) own.push_back(std::move(observer));
  }
  return own;
}

/// The files that custom observers write. @throws InputError for a file that the run or another
/// observer writes, or an invalid name
std::vector<std::string> files_of(const std::vector<std::unique_ptr<Observer>>& own) {
  std::vector<std::string> files;
  std::set<std::string> known;
  for (const auto& observer : own) {
    for (const std::string& file : observer->files()) {
      const auto refuse = [&](const char* why) {
        throw InputError(
            fmt::format("the observer '{}' cannot write '{}': {}", observer->name(), file, why));
      };
      if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos) {
        refuse("the name is not a plain file name");
      }
      if (is_file_of_runs(file))
        refuse("the run writes a file with this name; choose another name");
      if (!known.insert(file).second) {
        refuse("another observer writes this file; rename one of them");
      }
      files.push_back(file);
    }
  }
  return files;
}

/// A checkpoint cannot distinguish observers with the same name.
void refuse_equal_names(const std::vector<std::unique_ptr<Observer>>& observers) {
  std::set<std::string> names;
  for (const auto& observer : observers) {
    if (names.insert(observer->name()).second) continue;
    throw InputError(fmt::format(
        "two observers have the name '{}'. Checkpoints need unique names; rename one of them.",
        observer->name()));
  }
}

/// One run: an engine, its observers, and their messages and results.
class Run {
 public:
  Run(const Deck& deck, const RunOptions& options, RunFolder& folder)
      : deck_(deck), options_(options), folder_(folder) {
    before_.tarn_version = kVersion;
    before_.physics = physics_fingerprint(deck);
  }

  RunResult go(const RunFactories& parts) {
    State start;
    std::optional<Message> note_on_length;
    if (folder_.resumes()) {
      checkpoint_ = checkpoint_for(folder_.checkpoint(), before_.physics, deck_.run.steps);
      note_on_length = note_on_other_length(folder_.path(), deck_);
      molecules_ = checkpoint_.state.molecules;
      open_potential();
      own_ = custom_observers(options_.observers, info());
      refuse_new_observers(folder_.checkpoint(), checkpoint_, own_);
      if (checkpoint_.state.step == deck_.run.steps && record_is_finished(folder_.record())) {
        return already_finished();
      }
      start = live_replicas_of_checkpoint();
    } else {
      start = new_start(parts);
      molecules_ = start.molecules;
      open_potential();
      own_ = custom_observers(options_.observers, info());
    }
    emit(note_on_length);
    make_engine(parts, std::exchange(start, {}));
    const std::vector<std::string> own_files = files_of(own_);
    make_observers();
    folder_.prepare(own_files);
    emit(folder_.note_on_lock());
    try {
      write_run_json("running");
      if (options_.on_start) {
        options_.on_start({folder_.path(), device_, molecules_, deck_.system.replicas, first_step_,
                           deck_.run.steps, engine_->parts()});
      }
      begin_observers();
      step();
      finish();
    } catch (...) {
      record_failure();
      throw;
    }
    if (live_replicas() == 0) throw_none_left();
    return result();
  }

 private:
  // --- before the first step ---

  RunResult already_finished() {
    RunResult done;
    done.out_dir = folder_.path();
    done.steps_done = checkpoint_.state.step;
    done.already_finished = true;
    done.blow_ups = checkpoint_.blow_ups;
    done.device = checkpoint_.device;
    return done;
  }

  State live_replicas_of_checkpoint() {
    LiveAndStopped parts = split(std::move(checkpoint_.state), checkpoint_.blow_ups);
    before_.state = std::move(parts.stopped);
    before_.blow_ups = checkpoint_.blow_ups;
    if (parts.live.replica_ids.empty()) throw_none_left();
    return std::move(parts.live);
  }

  State new_start(const RunFactories& parts) {
    Deck deck = deck_;
    deck.run.threads = threads();
    deck.run.device = options_.device.value_or(deck_.run.device);
    Start start = parts.make_start(deck);
    for (const Message& message : start.messages) emit(message);
    start_.messages = start.messages;
    start_.slow = start.slow;
    if (deck_.heat) start.state.heat_kcal_per_mol.assign(start.state.positions_A.size() / 9, 0.0);
    return std::move(start.state);
  }

  void open_potential() {
    potential_ =
        potential_of(deck_, molecules_, options_.potential,
                     {options_.interrupted, [this](const Message& message) { emit(message); }});
  }

  void make_engine(const RunFactories& parts, const State& start) {
    first_step_ = start.step;
    DeviceRequest device{options_.device.value_or(deck_.run.device), threads(), potential_};
    const System system = make_system(deck_, molecules_);
    emit(friction_warning(system));
    emit(decks::warning_of_resonance(deck_));
    AutoDevice taken;
    if (device.name == "auto" && !device.potential) {
      taken = auto_device(system, start.replicas(), device.threads);
      device.name = taken.name;
    }
    device_name_ = device.potential ? "cpu" : device.name;
    try {
      engine_ = parts.make_engine(system, start, make_pair_count_request(deck_), device);
    } catch (const PotentialInterrupted&) {
      throw StartInterrupted();
    }
    // Ranks take a GPU each.
    const bool on_several = taken.name == "cuda" && engine_->parts().size() > 1;
    if (!taken.note.empty() && !on_several) emit(Message::note(taken.note));
    if (deck_.system.recentre) engine_ = centred(std::move(engine_), system);
    device_ = engine_->description();
    for (const Message& message : part_messages(engine_->parts())) emit(message);
    before_.device = engine_->arithmetic();
    if (folder_.resumes() && checkpoint_.device != before_.device) {
      emit(Message::note(fmt::format(
          "resumed on '{}', started on '{}'; results are equivalent, but not bitwise identical",
          before_.device, checkpoint_.device)));
    }
  }

  /// Averages are computed per temperature, but the tables of this note are not.
  void tell_of_pooled_temperatures() {
    if (!has_several_baths(bath_temperatures_K(deck_))) return;
    const std::string obstacle = heat_capacity_obstacle(bath_temperatures_K(deck_));
    if (deck_.energies && !obstacle.empty()) {
      emit(Message::note("no heat_capacity.csv: " + obstacle));
    }
    if (!deck_.rdf && !deck_.profile) return;
    emit(Message::note(
        fmt::format("{}{}{} pool{} all temperatures; the *_by_bath.csv tables, averages.csv and "
                    "the pictures do not",
                    deck_.rdf ? "rdf.csv" : "", deck_.rdf && deck_.profile ? " and " : "",
                    deck_.profile ? "profile.csv" : "", deck_.rdf && deck_.profile ? "" : "s")));
  }

  int threads() const { return options_.threads.value_or(deck_.run.threads); }

  RunInfo info() const {
    return {folder_.path(),
            molecules_,
            deck_.system.replicas,
            provenance_of(deck_, molecules_),
            deck_.integrator.timestep_fs,
            first_averaged_step(deck_),
            bath_temperatures_K(deck_),
            threads(),
            device_name_,
            std::max(1, static_cast<int>(structure_sources(deck_).size())),
            deck_.exchange ? [this](std::int64_t r) { return exchange_->walker_at(r); }
                           : std::function<std::int64_t(std::int64_t)>{},
            potential_};
  }

  /// Appends an observer. @return the observer, which observers_ owns
  template <class T, class... Arguments>
  T* add(Arguments&&... arguments) {
    auto observer = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T* const added = observer.get();
    observers_.push_back(std::move(observer));
    return added;
  }

  /// Creates all observers except the checkpointer, and starts none of them.
  void make_observers() {
    const RunInfo info = this->info();
    observers_ = tarn::make_observers(deck_, info);
    for (auto& observer : own_) observers_.push_back(std::move(observer));
    own_.clear();
    start_record_ = add<StartRecord>(std::move(start_));
    // A wall allows molecules in the gas phase.
    if (!deck_.confinement) evaporation_.watch = add<EvaporationWatch>();
    if (is_flexible(deck_)) dissociation_.watch = add<DissociationWatch>(*engine_);
    if (deck_.integrator.hessian != Hessian::gauss_newton) {
      hessians_ = add<IndefiniteHessianCounter>(*engine_);
    }
    if (deck_.final_structures) add<FinalStructures>(deck_, info, *engine_);
    if (deck_.exchange) {
      for (const Watched* watched : {&evaporation_, &dissociation_}) {
        if (watched->watch) watched->watch->set_walkers(info.walker_at);
      }
      // A walker takes longer to return from the highest temperature.
      constexpr std::int64_t kExchanges = 20;
      add<WalkerMemory>(ladder_length(make_system(deck_, molecules_)), deck_.system.replicas,
                        molecules_, kExchanges * deck_.exchange->every, info.walker_at);
      exchange_ = add<ReplicaExchange>(deck_, make_system(deck_, molecules_), info, *engine_);
    }
    refuse_equal_names(observers_);
    if (folder_.resumes()) refuse_other_observers(folder_.checkpoint(), checkpoint_, observers_);
  }

  void begin_observers() {
    tell_of_pooled_temperatures();
    emit(decks::warning_of_missing_samples(deck_));
    if (folder_.resumes()) {
      restore(checkpoint_, observers_);
      checkpoint_.observers.clear();
      const Messages& earlier = start_record_->messages;
      messages_.insert(messages_.begin(), earlier.begin(), earlier.end());
      for (Watched* watched : {&evaporation_, &dissociation_}) {
        watched->reported = watched->events().size();
      }
    } else {
      for (const auto& observer : observers_) observer->begin();
    }
    checkpointer_ = add<Checkpointer>(folder_.checkpoint(), deck_.checkpoint.every, *engine_,
                                      observers_, before_, options_.on_checkpoint);
  }

  // --- stepping ---

  void step() {
    began_ = Clock::now();
    // Ranks may fail at different steps.
    const bool has_one_step = engine_->parts().size() == 1;
    std::function<void()> keep_last_step;
    if (potential_ && has_one_step) keep_last_step = [this] { write_checkpoint(); };
    try {
      run_loop(
          *engine_, observers_, deck_.run.steps, !folder_.resumes(),
          [this](std::int64_t) { return go_on(); }, keep_last_step);
    } catch (const PotentialInterrupted&) {
      if (!keep_last_step) throw;
      interrupted_ = true;
    }
    ended_ = Clock::now();
    report();
  }

  bool go_on() {
    checkpointer_->poll();
    report();
    interrupted_ = options_.interrupted && options_.interrupted();
    if (interrupted_) return false;
    const double seconds = 60.0 * deck_.checkpoint.every_minutes;
    if (seconds > 0.0 && checkpointer_->age_seconds() >= seconds) write_checkpoint();
    return live_replicas() > 0;
  }

  void write_checkpoint() {
    Frame frame;
    engine_->snapshot(checkpointer_->fields(), frame);
    checkpointer_->observe(frame);
  }

  /// Reports what has happened since the last call.
  void report() {
    if (!deck_.evaporation) warn_about(evaporation_);  // else its messages report them
    warn_about(dissociation_);
    warn_about_blow_ups();
    if (options_.on_progress) options_.on_progress(progress());
  }

  Progress progress() const {
    return progress_of(engine_->step(), first_step_, deck_.run.steps, wall_seconds(),
                       deck_.integrator.timestep_fs, live_replicas());
  }

  void emit(const std::optional<Message>& message) {
    if (!message) return;
    messages_.push_back(*message);
    if (options_.on_message) options_.on_message(*message);
  }
  void warn(const std::string& text) { emit(Message::warning(text)); }

  void warn_about_blow_ups() {
    for (const BlowUp& blow_up : engine_->blow_ups()) {
      if (!reported_blow_ups_.insert(blow_up.replica).second) continue;
      const std::string text = describe(blow_up, deck_, indefinite_hessians(), molecules_);
      if (options_.on_blow_up) options_.on_blow_up(blow_up, text);
      if (reported_blow_ups_.size() <= kMostBlowUpWarnings) warn(text);
      if (reported_blow_ups_.size() == kMostBlowUpWarnings)
        warn("further blow-ups are listed only in run.json");
    }
  }

  std::int64_t indefinite_hessians() const { return hessians_ ? hessians_->count() : 0; }
  std::vector<BlowUp> blow_ups() const {
    return parallel::joined(std::array{before_.blow_ups, engine_->blow_ups()});
  }
  std::int64_t live_replicas() const {
    return deck_.system.replicas - static_cast<std::int64_t>(blow_ups().size());
  }

  // --- after the last step ---

  void finish() {
    checkpointer_->write();
    for (const auto& observer : observers_) observer->finish();
    if (exchange_) exchanged_ = exchange_summary();
    const bool has_forgotten = !exchanged_ || exchanged_->structure_changes.are_enough();
    average(has_forgotten);
    compare_starts();
    if (has_forgotten) emit(sampling_warning(averages_));
    warn_about_temperatures();
    for (const Message& message : estimator_warnings(averages_, deck_)) emit(message);
    warn_about_exchange();
    keep_last_good_structures();
    if (!interrupted_) draw();
    write_run_json(interrupted_ ? "interrupted" : live_replicas() == 0 ? "failed" : "finished");
  }

  /// With the structure changes that the first observer counted: [observe.minima], if it has
  /// populated isomers, comes before the neighbours.
  ExchangeSummary exchange_summary() const {
    ExchangeSummary summary = exchange_->summary();
    for (const auto& observer : observers_) {
      const auto changes = observer->structure_changes();
      if (!changes) continue;
      summary.structure_changes = *changes;
      break;
    }
    return summary;
  }
  void compare_starts() {
    StartComparison comparison;
    for (const AveragedQuantity& a : averages_) {
      comparison.add(a.quantity, a.bath_K, a.sigmas_between_starts.value_or(0.0));
    }
    const auto message = comparison.message("averages");
    if (!message && structure_sources(deck_).size() > 1 && !averages_.empty()) {
      emit(
          Message::note("averages from different starts cannot be compared: each start needs two "
                        "ladders, or without several temperatures two replicas"));
    }
    emit(message);
  }
  void average(bool has_forgotten) {
    for (const auto& observer : observers_) {
      std::vector<AveragedQuantity> some = observer->averages();
      if (observer.get() != exchange_ && !has_forgotten) {
        for (AveragedQuantity& a : some) a.converged = false;
      }
      averages_.insert(averages_.end(), some.begin(), some.end());
      for (const Message& message : observer->messages()) emit(message);
    }
    if (!averages_.empty()) {
      write_averages(folder_.file("averages.csv"), provenance_of(deck_, molecules_), averages_);
    }
  }

  /// A step that is too long heats the system; the thermostat partly hides this.
  void warn_about_temperatures() {
    std::vector<double> named_K = bath_temperatures_K(deck_);
    if (named_K.empty() && deck_.system.temperature_K) named_K = {*deck_.system.temperature_K};
    if (named_K.empty()) return;
    for (const AveragedQuantity& a : averages_) {
      if (a.table != "energies" || a.quantity != "temperature_K") continue;
      emit(temperature_warning(a, a.bath_K.value_or(named_K.front()), deck_));
    }
  }
  void warn_about_exchange() {
    if (!exchanged_) return;
    const StructureChanges& changes = exchanged_->structure_changes;
    if (!changes.are_enough()) {
      warn(fmt::format(
          "{:.1f} {} per walker, fewer than about {:g}. Averages may depend on the start, and "
          "their errors may be lower bounds. {}{}",
          changes.per_walker, changes.what, StructureChanges::kEnough, run_longer(changes),
          deck_.system.files.empty()
              ? ", and start half of the ladders from another structure ([system] files)"
              : ""));
    }
    for (const ExchangePair& p : exchanged_->pairs) {
      if (p.attempts == 0 || p.acceptance + 2.0 * p.error >= kRareExchange) continue;
      warn(exchanged_->has_windows
               ? fmt::format("the windows at {:g} and {:g} exchange in only {:.2g} % of the "
                             "attempts; add a window between them, or reduce the stiffness",
                             p.lower_bath_K, p.upper_bath_K, 100.0 * p.acceptance)
               : fmt::format("{:g} K and {:g} K {}", p.lower_bath_K, p.upper_bath_K,
                             rare_exchange_text(p.acceptance)));
    }
  }

  void keep_last_good_structures() const {
    std::vector<BlowUp> first = blow_ups();
    if (first.empty()) return;
    State state = start::centroids_of(join(engine_->state(), before_.state));
    const System system = make_system(deck_, molecules_);
    if (is_rigid(deck_.integrator.scheme)) project_onto_constraints(system, state);
    const std::string isotopes = isotope_names(system.atom_masses_Da);
    std::ranges::stable_sort(first, {}, &BlowUp::step);
    first.resize(std::min(first.size(), kMostBlowUpFiles));
    for (const BlowUp& blow_up : first) {
      const auto found = std::ranges::find(state.replica_ids, blow_up.replica);
      if (found == state.replica_ids.end()) continue;
      const auto r = static_cast<std::size_t>(found - state.replica_ids.begin());
      io::Structure structure;
      structure.molecules = molecules_;
      State one = parallel::share_of(state, r, r + 1);
      structure.positions_A = std::move(one.positions_A);
      structure.velocities_A_per_akma = std::move(one.velocities_A_per_akma);
      structure.comment = {{"model", deck_.system.model},
                           {"replica", fmt::to_string(blow_up.replica)},
                           {"blew_up_at_step", fmt::to_string(blow_up.step)}};
      if (potential_) structure.comment.emplace("potential", potential_->name());
      if (!isotopes.empty()) structure.comment.emplace("isotopes", isotopes);
      if (const double push = push_fs2(deck_.integrator); push > 0.0) {
        structure.comment.emplace("push_fs2", fmt::format("{:.17g}", push));
      }
      io::write_structure(folder_.file(blow_up_file_name(blow_up.replica)), structure);
    }
  }

  void draw() {
    if (!options_.pictures) return;
    std::set<std::string> emitted;
    const auto add = [&](const Pictures& pictures) {
      pictures_.insert(pictures_.end(), pictures.paths.begin(), pictures.paths.end());
      for (const Message& message : pictures.messages) {
        if (emitted.insert(message.text).second) emit(message);
      }
    };
    add(io::draw_pictures(folder_.path()));
    for (const auto& observer : observers_) add(observer->draw());
  }

  void write_run_json(const std::string& status, const std::string& error = {}) const {
    RunRecord record;
    record.status = status;
    record.error = error;
    record.molecules = molecules_;
    record.first_step = first_step_;
    record.result = result();
    record.has_replicas = live_replicas() > 0;
    if (!record.has_replicas) {  // no steps were done after the last blow-up
      record.result.steps_done = 0;
      for (const BlowUp& b : record.result.blow_ups) {
        record.result.steps_done = std::max(record.result.steps_done, b.step);
      }
    }
    record.slow_start = start_record_->slow;
    record.parts = engine_->parts();
    record.engine = engine_->report();
    record.messages = messages_;
    if (exchange_ && !exchanged_) record.result.exchange = exchange_summary();
    record.departures = evaporation_.events();
    record.broken_bonds = dissociation_.events();
    record.indefinite_hessians = indefinite_hessians();
    write_record(folder_.record(), deck_, record);
  }

  /// Called while an exception is handled: if possible, completes the checkpoint that is being
  /// written and records the reason of the failure in run.json.
  void record_failure() {
    std::string reason = "an observer threw an exception that is not a std::exception";
    try {
      throw;
    } catch (const std::exception& error) {
      reason = failure_reason(error);
    } catch (...) {
    }
    try {
      if (checkpointer_) checkpointer_->finish_writing();
    } catch (...) {  // report the first error
    }
    try {
      write_run_json("failed", reason);
    } catch (const std::exception&) {  // report the first error
    }
  }

  [[noreturn]] void throw_none_left() const {
    std::vector<BlowUp> all = before_.blow_ups;
    if (engine_) all = blow_ups();
    const BlowUp& first = *std::ranges::min_element(all, {}, &BlowUp::step);
    throw NumericalError(fmt::format(
        "{}: no replica is left. The first blow-up: {}; run.json gives the likely cause. The last "
        "good structure is in '{}'.",
        folder_.path(), headline(first), folder_.file(blow_up_file_name(first.replica))));
  }

  RunResult result() const {
    const Progress p = progress();
    RunResult result;
    result.out_dir = folder_.path();
    result.steps_done = engine_->step();
    result.interrupted = interrupted_;
    result.wall_seconds = p.elapsed_seconds;
    result.steps_per_second = p.steps_per_second;
    result.ns_per_day_per_replica = p.ns_per_day_per_replica;
    result.ns_per_day_total = p.ns_per_day_total;
    result.blow_ups = blow_ups();
    result.averages = averages_;
    result.exchange = exchanged_;
    result.pictures = pictures_;
    result.device = device_;
    return result;
  }

  /// A watch, or none, and the number of events that were reported.
  struct Watched {
    FirstEventWatch* watch = nullptr;
    std::size_t reported = 0;
    MoleculeEvents events() const { return watch ? watch->events() : MoleculeEvents{}; }
  };
  void warn_about(Watched& watched) {
    const MoleculeEvents all = watched.events();
    for (; watched.reported < all.size(); ++watched.reported) {
      if (watched.reported < kMostEventWarnings)
        warn(watched.watch->describe(all[watched.reported]));
      if (watched.reported == kMostEventWarnings) warn(watched.watch->describe_others());
    }
  }

  using Clock = std::chrono::steady_clock;
  /// Time spent stepping, until now or until the end.
  double wall_seconds() const {
    if (!began_) return 0.0;
    return std::chrono::duration<double>(ended_.value_or(Clock::now()) - *began_).count();
  }

  const Deck& deck_;
  const RunOptions& options_;
  RunFolder& folder_;
  io::Checkpoint checkpoint_;  // from which the run resumes
  io::Checkpoint before_;      // constant part of all checkpoints; replicas stopped earlier
  int molecules_ = 0;
  StartRecord start_;  // of a new run, until moved to the observers
  std::int64_t first_step_ = 0;
  std::shared_ptr<Potential> potential_;  ///< null: the water model
  std::unique_ptr<Engine> engine_;
  std::string device_, device_name_ = "cpu";
  std::vector<std::unique_ptr<Observer>> own_;        // custom ones, until moved to observers_
  std::vector<std::unique_ptr<Observer>> observers_;  // the checkpointer is the last
  Checkpointer* checkpointer_ = nullptr;
  StartRecord* start_record_ = nullptr;
  Watched evaporation_;                             // none with a wall
  Watched dissociation_;                            // none for rigid models
  IndefiniteHessianCounter* hessians_ = nullptr;    // null with Gauss-Newton
  ReplicaExchange* exchange_ = nullptr;             // null without [exchange]
  std::optional<ExchangeSummary> exchanged_;        // at the end of the run
  std::optional<Clock::time_point> began_, ended_;  // start and end of stepping
  bool interrupted_ = false;
  std::set<std::int64_t> reported_blow_ups_;  // replicas whose blow-up was reported
  Messages messages_;
  std::vector<AveragedQuantity> averages_;
  std::vector<std::string> pictures_;
};

}  // namespace

RunResult run_deck(const Deck& deck, const RunOptions& options) {
  return run_deck(deck, options, {});
}

RunResult run_deck(const Deck& deck, const RunOptions& options, const RunFactories& parts) {
  const auto should_continue = [&options](int done, int replicas) {
    if (options.on_preparation) options.on_preparation(done, replicas);
    return !(options.interrupted && options.interrupted());
  };
  RunFactories all = parts;
  if (!all.make_start)
    all.make_start = [&](const Deck& d) { return make_start(d, should_continue); };
  const Deck used = options.potential ? with_potential(deck, options.potential->name()) : deck;
  if (!all.make_engine) {
    all.make_engine = make_engine;
    if (!options.resume && potential_kind(used) == PotentialKind::model) {
      check_device(options.device.value_or(used.run.device));
    }
  }
  RunFolder folder(used, options);
  return Run(used, options, folder).go(all);
}

}  // namespace tarn
