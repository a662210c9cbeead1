#pragma once

#include <cstdint>
#include <optional>

#include "tarn/deck.hpp"
#include "tarn/system.hpp"

namespace tarn {

/// Wall time of the steps of a run, without its observers.
struct RunCost {
  double seconds = 0.0;
  int threads = 0;           ///< of the CPU of this machine; 0 for a GPU
  double most_factor = 0.0;  ///< on a GPU: of the slowest observers or exchange that were timed
};

/// Estimates the time of a run. On the CPU by steps of a few of its replicas, or of a smaller
/// cluster, on a grid of molecules, in about a tenth of a second; on a GPU from the rates that were
/// measured on one NVIDIA H200. Has no effect on results.
/// @param molecules per cluster
/// @return empty for ring polymers on a GPU, and if the engine cannot be made
std::optional<RunCost> estimated_cost(const Deck& deck, int molecules);

/// Memory of a GPU for the state of a run, without that of CUDA and of observers.
double gpu_bytes(const System& system, std::int64_t replicas);

}  // namespace tarn
