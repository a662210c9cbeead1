#pragma once

#include "pair_histograms.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

/// Counts and times of one thread of an engine, on cache lines that no other thread writes.
struct alignas(64) ThreadTotals {
  PairHistograms pairs;
  RadialCounts radial;  ///< of one frame
  EngineReport report;
};

}  // namespace tarn::cpu
