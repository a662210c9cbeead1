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

/// Contents of run.json: the results, and more.
struct RunRecord {
  std::string status;  ///< running, finished, interrupted or failed
  std::string error;   ///< reason of a failure
  int molecules = 0;
  std::int64_t first_step = 0;  ///< 0, or the step it resumed from
  /// If no replica is left, the step of the last blow-up is that which was reached, and no speed is
  /// written.
  RunResult result;
  bool has_replicas = true;
  std::optional<SlowManifoldStart> slow_start;  ///< of a projected start
  std::vector<EnginePart> parts;                ///< written if there are several
  EngineReport engine;
  Messages messages;
  /// Of the whole run, including before a restart.
  MoleculeEvents departures, broken_bonds;
  std::int64_t indefinite_hessians = 0;  ///< of the whole run
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
