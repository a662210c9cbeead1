#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/observer.hpp"

namespace tarn {

/// What a run tells while it goes on (about twice a second).
struct Progress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double elapsed_seconds = 0.0;
  double steps_per_second = 0.0;  ///< of one replica
  double ns_per_day_per_replica = 0.0;
  double ns_per_day_total = 0.0;
  double seconds_left = 0.0;
};

struct RunOptions {
  std::string out_dir;  ///< empty: out/<deck name>
  bool resume = false;
  bool overwrite = false;
  std::optional<std::string> device;  ///< replaces the deck's
  std::optional<int> threads;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_warning;
  /// Asked between chunks; true ends the run after a checkpoint.
  std::function<bool()> interrupted;
};

struct RunResult {
  std::string out_dir;
  std::int64_t steps_done = 0;  ///< step number reached
  bool interrupted = false;
  double wall_seconds = 0.0;
  std::vector<BlowUp> blow_ups;
  std::vector<std::string> pictures;
  std::string device;
};

/// Runs a deck into a folder: energies, trajectory, RDF, pictures, run.json, checkpoint.
/// @throws InputError, IoError, NumericalError (no replica left), DeviceError
RunResult run_deck(const Deck& deck, const RunOptions& options);

/// The loop itself: the earliest due step of any observer, advance to it, one Frame, the due
/// observers. `between` is called about twice a second; it returns false to stop.
void run_loop(Engine& engine, const std::vector<std::unique_ptr<Observer>>& observers,
              std::int64_t last_step, bool observe_first_step,
              const std::function<bool(std::int64_t step)>& between);

}  // namespace tarn
