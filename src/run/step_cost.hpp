#pragma once

#include <optional>

#include "tarn/deck.hpp"

namespace tarn {

/// Wall time of the steps of a run on the CPU of this machine, without its observers.
struct RunCost {
  double seconds = 0.0;
  int threads = 0;
};

/// Estimates the time of a run by steps of a few of its replicas, or of a smaller cluster, on a
/// grid of molecules. Takes about a tenth of a second and has no effect on results.
/// @param molecules per cluster
/// @return empty for a run on a GPU, and if the engine cannot be made
std::optional<RunCost> estimated_cost(const Deck& deck, int molecules);

}  // namespace tarn
