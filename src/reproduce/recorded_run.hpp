#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/observer.hpp"
#include "tarn/reproduce.hpp"

namespace tarn {

/// Frames of a run of water, in memory.
struct RecordedRun {
  Deck deck;
  int molecules = 0;
  std::vector<Frame> frames;  ///< from step 0 until the deck ends or all replicas have blown up
  std::vector<BlowUp> blow_ups;
};

/// Runs a deck on the CPU. @param fields of the frames @param every steps between two frames
/// @param threads 0: all
RecordedRun record_run(const Deck& deck, unsigned fields, std::int64_t every, int threads);

/// Results of a run whose observers write files.
struct ObservedRun {
  std::vector<AveragedQuantity> averages;
  Frame pair_counts;  ///< of [observe.rdf]
  std::vector<BlowUp> blow_ups;
};

/// Runs a deck on one thread of the CPU with its observers. @param folder is created
ObservedRun observe_run(const Deck& deck, const std::string& folder);

}  // namespace tarn
