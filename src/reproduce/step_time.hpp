#pragma once

#include <cstddef>
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

/// Sets `core_us_per_ps` of each case, of one cluster: the median over turns of all cases.
/// @param batches each case has so many times the replicas of its `deck`
template <class Case>
void time_cases(std::vector<Case>& cases, int batches, int turns, double seconds) {
  std::vector<TimedEngine> timed;
  for (const Case& c : cases) {
    Deck deck = c.deck;
    deck.system.replicas *= batches;
    timed.push_back(timed_engine_of(deck));
  }
  time_in_turns(timed, turns, seconds);
  for (std::size_t k = 0; k < cases.size(); ++k) {
    cases[k].core_us_per_ps = timed[k].quantile(0.5) / cases[k].timestep_fs;
  }
}

}  // namespace tarn
