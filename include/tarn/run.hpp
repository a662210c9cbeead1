#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tarn/analysis/multi_histogram.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observe/observers.hpp"
#include "tarn/observer.hpp"

/// @file
/// From a deck to a folder of files.

namespace tarn {

struct Start;

/// What a run tells while it goes on (about twice a second).
struct Progress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double elapsed_seconds = 0.0;   ///< of stepping, since this program began or resumed
  double steps_per_second = 0.0;  ///< of one replica
  double ns_per_day_per_replica = 0.0;
  double ns_per_day_total = 0.0;  ///< of the replicas that still go on
  double seconds_left = 0.0;
};

/// What a run is, told once before its first step.
struct RunStart {
  std::string out_dir;
  std::string device;
  int molecules = 0;
  int replicas = 0;
  std::int64_t first_step = 0;  ///< 0, or where it is resumed
  std::int64_t total_steps = 0;
};

struct RunOptions {
  std::string out_dir;                ///< empty: out/<deck name>
  bool resume = false;                ///< go on from the checkpoint in out_dir
  bool overwrite = false;             ///< replace the run in out_dir
  std::optional<std::string> device;  ///< replaces the deck's
  std::optional<int> threads;
  /// Observers of one's own beside those of the deck, such as quantity_table(). They are made once
  /// the start is known, see each Frame after the deck's observers (with [exchange], before
  /// replicas change places), and take part in checkpoints, averages, notes and pictures. A run is
  /// resumed with observers of the same names only. Water only.
  std::vector<ObserverMaker> observers;
  std::function<void(const Progress&)> on_progress;
  /// Told at once, and written to run.json: remarks on the start, replicas that were stopped or
  /// that a molecule has left, pictures that could not be drawn.
  std::function<void(const std::string&)> on_warning;
  /// Every blow-up, once; the first few are warnings too, of the same text.
  std::function<void(const BlowUp&, const std::string& text)> on_blow_up;
  std::function<void(const RunStart&)> on_start;
  /// Told often while the start is made, by one thread at a time.
  std::function<void(int done, int replicas)> on_making_start;
  /// A checkpoint of that step is complete, under its name and on the disk.
  std::function<void(std::int64_t step)> on_checkpoint;
  /// Asked about twice a second; true ends the run after a checkpoint. Asked more often while the
  /// start is made, by one thread at a time; there true throws StartInterrupted.
  std::function<bool()> interrupted;
};

/// Neighbours in temperature, of all ladders.
struct ExchangePair {
  double lower_bath_K = 0.0, upper_bath_K = 0.0;
  std::int64_t attempts = 0, accepted = 0;
  /// Mean probability and its standard error; nan without attempts.
  double acceptance = std::numeric_limits<double>::quiet_NaN(), error = acceptance;
};
/// What came of [exchange], after equilibration.
struct ExchangeSummary {
  std::vector<ExchangePair> pairs;
  /// Of states that were in the coldest bath, then in the hottest one, and in the coldest again.
  std::int64_t round_trips = 0;
  double round_trips_each = 0.0;    ///< of one state
  double round_trips_per_ns = 0.0;  ///< likewise
  /// With fewer round trips averages by bath may remember the start: their errors are lower bounds.
  static constexpr double kEnoughRoundTrips = 3.0;
  bool has_mixed() const { return round_trips_each >= kEnoughRoundTrips; }
  /// As many baths with one acceptance between all neighbours, by the energies that were seen;
  /// nothing for two baths, where too little is known, and before the run has ended.
  std::optional<analysis::EqualAcceptanceLadder> even;
};

/// What a mechanical system conserves, over the rows of `conservation.csv`.
struct ConservedQuantity {
  std::string name;
  double start = 0.0;
  double largest_change = 0.0;  ///< from the start, without its sign
  double last_change = 0.0;
};

struct RunResult {
  std::string out_dir;
  std::int64_t steps_done = 0;  ///< step number reached
  bool interrupted = false;
  /// Resume found nothing left to do: there are no averages and pictures here, but in the folder.
  bool already_finished = false;
  double wall_seconds = 0.0;  ///< of stepping
  double steps_per_second = 0.0;
  double ns_per_day_per_replica = 0.0;  ///< 0 for systems without units
  double ns_per_day_total = 0.0;
  std::vector<BlowUp> blow_ups;              ///< of the whole run, also before it was resumed
  std::vector<AveragedQuantity> averages;    ///< after equilibration; see averages.csv
  std::vector<ConservedQuantity> conserved;  ///< of mechanical systems
  std::optional<ExchangeSummary> exchange;
  std::vector<std::string> pictures;
  std::string device;
};

/// Runs a deck into a folder: energies, trajectory, RDF, averages, pictures, run.json, checkpoint.
///
/// A replica that blows up is stopped and reported, its last good structure kept in
/// `blow-up-<replica>.xyz`; the others go on. A mechanical system that fails keeps its rows so far.
/// @throws InputError when another run writes into out_dir or it holds one and neither resume nor
///         overwrite is set; when there is nothing to resume; when the deck or the observers are
///         not the checkpoint's; when two observers have one name or file. Nothing is changed then
/// @throws IoError; the last checkpoint is kept
/// @throws NumericalError when no replica is left, after every file was finished
/// @throws DeviceError
/// @throws StartInterrupted when `interrupted` says so while the start is made
/// What observers of one's own throw comes out as it is; run.json notes it, and the run can be
/// resumed from its last checkpoint.
RunResult run_deck(const Deck& deck, const RunOptions& options);

/// Whether a mechanical deck can start.
/// @return the deck with the paper's initial data where it gives none
/// @throws InputError
Deck check_mechanics(const Deck& deck);

/// Where a run gets its start and its engine from; an empty part is that of run_deck() without.
struct RunParts {
  std::function<Start(const Deck&)> make_start;
  std::function<std::unique_ptr<Engine>(const System&, const State&, const PairCountRequest&,
                                        const DeviceRequest&)>
      make_engine;
};

/// The same with parts of one's own. @throws InputError for a mechanical deck
RunResult run_deck(const Deck& deck, const RunOptions& options, const RunParts& parts);

/// The loop itself: the earliest due step of any observer, advance to it, one Frame, the due
/// observers. At the end the observers catch up with the sums that the engine keeps.
///
/// Long stretches are cut into pieces of about a quarter of a second, which changes no bit.
/// @param observers called in their order where several are due; begin() or load() was called
/// @param last_step where it ends
/// @param observe_first_step whether the observers see the step that the engine is at, too
/// @param between called about twice a second, between advances; false stops the loop
/// @throws InputError when the every() of an observer is below 1
void run_loop(Engine& engine, const std::vector<std::unique_ptr<Observer>>& observers,
              std::int64_t last_step, bool observe_first_step,
              const std::function<bool(std::int64_t step)>& between);

}  // namespace tarn
