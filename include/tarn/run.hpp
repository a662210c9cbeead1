#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tarn/analysis/multi_histogram.hpp"
#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"
#include "tarn/potential.hpp"

/// @file
/// Runs a deck and writes the output folder.

namespace tarn {

struct Start;

/// Progress of a run, reported about twice a second.
struct Progress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double elapsed_seconds = 0.0;   ///< of stepping, since the start or resumption of the run
  double steps_per_second = 0.0;  ///< of one replica
  double ns_per_day_per_replica = 0.0;
  double ns_per_day_total = 0.0;  ///< of the replicas that have not stopped
  double seconds_left = 0.0;
};

/// Description of a run, reported once before its first step.
struct RunStart {
  std::string out_dir;
  std::string device;
  int molecules = 0;
  int replicas = 0;
  std::int64_t first_step = 0;  ///< 0, or the step of the checkpoint
  std::int64_t total_steps = 0;
  std::vector<EnginePart> parts{};  ///< devices that share the replicas
};

struct RunOptions {
  std::string out_dir;                ///< empty: out/<deck name>
  bool resume = false;                ///< continue from the checkpoint in out_dir
  bool overwrite = false;             ///< replace the run in out_dir
  bool pictures = true;               ///< draw pictures at the end
  std::optional<std::string> device;  ///< overrides the deck
  std::optional<int> threads;         ///< overrides the deck
  /// Energies and forces in place of those of the water model; water only. The name of the
  /// potential is in run.json, the heads of files and checkpoints. Null: the deck's.
  std::shared_ptr<Potential> potential;
  /// Additional observers, such as quantity_table(); water only. They are created once the initial
  /// state is known and receive each Frame after the deck's observers, and before replicas are
  /// exchanged. They take part in checkpoints, averages, messages and pictures. A run can only be
  /// resumed with observers of the same names.
  std::vector<ObserverMaker> observers;
  std::function<void(const Progress&)> on_progress;
  /// Called immediately for each message: notes, such as changes to the initial state, and
  /// warnings, such as evaporated molecules. Messages are also in run.json.
  std::function<void(const Message&)> on_message;
  /// Called once per blow-up. The first few are also warnings, with the same text.
  std::function<void(const BlowUp&, const std::string& text)> on_blow_up;
  std::function<void(const RunStart&)> on_start;
  /// Called often while the initial states are prepared, by one thread at a time.
  std::function<void(int done, int replicas)> on_preparation;
  /// Called when the checkpoint of a step is complete on the disk.
  std::function<void(std::int64_t step)> on_checkpoint;
  /// Called about twice a second; returning true stops the run after a checkpoint. Called more
  /// often while initial states are prepared, by one thread at a time; returning true then throws
  /// StartInterrupted.
  std::function<bool()> interrupted;
};

/// Exchanges of neighbours in temperature, over all ladders.
struct ExchangePair {
  double lower_bath_K = 0.0, upper_bath_K = 0.0;
  std::int64_t attempts = 0, accepted = 0;
  /// Mean probability and its standard error; nan without attempts.
  double acceptance = std::numeric_limits<double>::quiet_NaN(), error = acceptance;
};
/// Results of [exchange], after equilibration.
struct ExchangeSummary {
  std::vector<ExchangePair> pairs;
  bool has_windows = false;  ///< the ladder is one of windows: "baths" are their centres
  /// Number of times that a state went from the coldest bath to the hottest and back.
  std::int64_t round_trips = 0;
  double round_trips_per_state = 0.0;  ///< average over states
  double round_trips_per_ns = 0.0;     ///< per state
  /// Changes between the two most populated isomers with [observe.minima], else returns to the
  /// lowest temperature with other neighbours; round trips for fewer than four molecules. If they
  /// are not enough, averages by bath may depend on the start, and their errors may be lower
  /// bounds.
  StructureChanges structure_changes{};
  /// Temperatures with equal acceptance between all neighbours, estimated from the sampled
  /// energies. Empty for two baths, if too little is known, and before the end of the run.
  std::optional<analysis::EqualAcceptanceLadder> equal_acceptance_ladder;
};

struct RunResult {
  std::string out_dir;
  std::int64_t steps_done = 0;  ///< step number reached
  bool interrupted = false;
  /// The resumed run was complete; its averages and pictures are only in the folder.
  bool already_finished = false;
  double wall_seconds = 0.0;  ///< of stepping
  double steps_per_second = 0.0;
  double ns_per_day_per_replica = 0.0;
  double ns_per_day_total = 0.0;
  std::vector<BlowUp> blow_ups;  ///< of the whole run, including the part before resumption
  std::vector<AveragedQuantity> averages;  ///< after equilibration; see averages.csv
  std::optional<ExchangeSummary> exchange;
  std::vector<std::string> pictures;
  std::string device;
};

/// Runs a deck and writes energies, trajectory, RDF, averages, pictures, run.json and checkpoint.
///
/// A replica that blows up is stopped and reported, and its last valid structure is kept in
/// `blow-up-<replica>.xyz`; the other replicas continue.
/// @throws InputError if out_dir is in use by another run, or contains a run and neither resume nor
///         overwrite is set; if there is nothing to resume; if the deck or the observers differ
///         from those of the checkpoint; if two observers have the same name or file. No file is
///         changed
/// @throws IoError; the last checkpoint is kept
/// @throws NumericalError if no replica is left, after all files were completed
/// @throws DeviceError
/// @throws StartInterrupted if `interrupted` returned true while initial states were prepared
///
/// Exceptions of additional observers are passed on and recorded in run.json; the run can be
/// resumed from its last checkpoint. So are those of a potential, after a checkpoint of the last
/// complete step; with several MPI ranks the last checkpoint remains.
RunResult run_deck(const Deck& deck, const RunOptions& options);

/// Functions that create the initial state and the engine of a run; empty ones are the defaults.
struct RunFactories {
  std::function<Start(const Deck&)> make_start;
  EngineMaker make_engine;
};

/// As above, with other factories.
RunResult run_deck(const Deck& deck, const RunOptions& options, const RunFactories& factories);

/// The loop of a run. It advances to the next step at which an observer is due, takes one Frame and
/// calls the due observers. At the end the observers receive the sums accumulated by the engine.
///
/// Long intervals are divided into parts of about a quarter of a second, which does not change the
/// results.
/// @param observers in the order of their calls; begin() or load() must have been called
/// @param last_step step at which the loop ends
/// @param observe_first_step whether the observers also receive the current step of the engine
/// @param on_report called about twice a second, between advances; returning false stops the loop
/// @param on_failed_advance called if the engine throws while it advances, once the observers have
///        received all frames of earlier steps. May be empty
/// @throws InputError if every() of an observer is below 1
void run_loop(Engine& engine, const std::vector<std::unique_ptr<Observer>>& observers,
              std::int64_t last_step, bool observe_first_step,
              const std::function<bool(std::int64_t step)>& on_report,
              const std::function<void()>& on_failed_advance = {});

}  // namespace tarn
