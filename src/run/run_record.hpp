#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "evaporation.hpp"
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

/// What run.json holds.
struct RunRecord {
  std::string status;  ///< running, finished, interrupted or failed
  std::string error;   ///< why it failed
  int molecules = 0;
  std::string device;
  std::int64_t first_step = 0;  ///< 0, or where it was resumed
  std::int64_t steps_done = 0;  ///< where no replica is left, until the last was stopped
  double wall_seconds = 0.0;    ///< of stepping, since first_step
  std::optional<Speed> speed;   ///< nothing where no replica is left
  std::optional<SlowManifoldStart> slow_start;  ///< of a start that was projected, unless resumed
  EngineReport engine;
  std::vector<std::string> warnings;
  std::vector<AveragedQuantity> averages;
  std::optional<ExchangeSummary> exchange;
  std::vector<Departure> departures;  ///< of the whole run, also before it was resumed
  std::vector<BlowUp> blow_ups;
  std::int64_t indefinite_hessians = 0;  ///< of the whole run, as those
  std::vector<std::string> pictures;
};

/// Writes run.json atomically. @throws IoError
void write_record(const std::string& path, const Deck& deck, const RunRecord& record);

/// Why a run failed, as run.json and the terminal tell it.
std::string failure_reason(const std::exception& error);

/// Whether the run.json there says that its run finished; false when there is none.
bool record_is_finished(const std::string& path);

}  // namespace tarn
