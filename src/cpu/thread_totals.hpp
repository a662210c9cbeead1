#pragma once

#include "pair_histograms.hpp"
#include "tarn/engine.hpp"

namespace tarn::cpu {

/// What one thread of an engine has counted and timed, on cache lines of its own.
struct alignas(64) ThreadTotals {
  PairHistograms pairs;
  EngineReport report;
};

}  // namespace tarn::cpu
