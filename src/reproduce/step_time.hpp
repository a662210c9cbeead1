#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Core time of the process so far [s]; other load of the machine affects it little.
double core_seconds();
/// Core time of run() [s].
template <class Run>
double core_seconds_of(const Run& run) {
  const double began = core_seconds();
  run();
  return core_seconds() - began;
}

/// An engine of the deck on one thread of the CPU, at its start.
std::unique_ptr<Engine> engine_of(const Deck& deck);

/// An engine whose steps are timed in turns with others.
struct TimedEngine {
  std::unique_ptr<Engine> engine;
  int replicas = 1;
  std::vector<double> ns_per_step;  ///< of one cluster, core time; one value per turn

  /// The value below which this share of the turns lies; 0.5: the median.
  double quantile(double share) const;
};
TimedEngine timed_engine_of(const Deck& deck);

/// Times steps of all engines in turns, so that other load of the machine affects all alike.
/// @param seconds of a turn, approximately
void time_in_turns(std::vector<TimedEngine>& all, int turns, double seconds);

}  // namespace tarn
