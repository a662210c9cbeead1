#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "run_observers.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"

namespace tarn {

struct Speed {
  double steps_per_second = 0.0;
  double ns_per_day_per_replica = 0.0;
  double ns_per_day_total = 0.0;
};

/// Contents of run.json.
struct RunRecord {
  std::string status;  ///< running, finished, interrupted or failed
  std::string error;   ///< reason of a failure
  int molecules = 0;
  std::string device;
  std::int64_t first_step = 0;                  ///< 0, or the step it resumed from
  std::int64_t steps_done = 0;                  ///< if no replica is left: step of the last blow-up
  double wall_seconds = 0.0;                    ///< spent stepping since first_step
  std::optional<Speed> speed;                   ///< empty if no replica is left
  std::optional<SlowManifoldStart> slow_start;  ///< of a projected start
  std::vector<EnginePart> parts;                ///< written if there are several
  EngineReport engine;
  Messages messages;
  std::vector<AveragedQuantity> averages;
  std::optional<ExchangeSummary> exchange;
  /// Of the whole run, including before a restart.
  MoleculeEvents departures, broken_bonds;
  std::vector<BlowUp> blow_ups;
  std::int64_t indefinite_hessians = 0;  ///< of the whole run
  std::vector<std::string> pictures;
};

/// Writes run.json atomically. @throws IoError
void write_record(const std::string& path, const Deck& deck, const RunRecord& record);

/// Reason of a failure, for run.json and the terminal.
std::string failure_reason(const std::exception& error);

/// A note that a resumed run has another length than before; nothing if run.json does not say it.
std::optional<Message> note_on_other_length(const std::string& folder, const Deck& deck);

/// Whether the run.json at this path has the status "finished"; false if there is none.
bool record_is_finished(const std::string& path);

}  // namespace tarn
