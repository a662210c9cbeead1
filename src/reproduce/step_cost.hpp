#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/engine.hpp"

namespace tarn {

/// Core time of the process so far [s]: what else the machine does counts little.
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

/// An engine whose steps are timed.
struct Timed {
  std::unique_ptr<Engine> engine;
  int replicas = 1;
  std::vector<double> ns_per_step;  ///< of one cluster, core time; a value each turn

  /// The value that this share of the turns lies below; 0.5: the median.
  double quantile(double share) const;
};

/// Times steps of all engines in turns, so that what else the machine does falls on all alike.
/// @param seconds of a turn, about
void time_in_turns(std::vector<Timed>& all, int turns, double seconds);

/// Of numbers in any order.
double quantile_of(std::vector<double> values, double share);

}  // namespace tarn
