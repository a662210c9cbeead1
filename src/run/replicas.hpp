#pragma once

#include <vector>

#include "tarn/engine.hpp"
#include "tarn/state.hpp"

namespace tarn {

/// A State split by whether a replica was stopped.
struct LiveAndStopped {
  State live;
  State stopped;
};

/// Which replicas an engine may go on with, and which it must not touch again.
LiveAndStopped split(const State& state, const std::vector<BlowUp>& blow_ups);

/// Both together again, in order of replica id; step and molecules are those of `live`.
State join(const State& live, const State& stopped);

/// Coordinates of one replica of a State: positions or velocities.
std::vector<double> replica_part(const State& state, const std::vector<double>& values,
                                 std::size_t replica);

}  // namespace tarn
