#pragma once

#include <memory>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/physics/parameters.hpp"
#include "tarn/state.hpp"

namespace tarn {

/// A State split into live and stopped replicas.
struct LiveAndStopped {
  State live;
  State stopped;
};

/// Separates the replicas that an engine may continue from those that blew up.
LiveAndStopped split(State state, const std::vector<BlowUp>& blow_ups);

/// Inverse of split(), sorted by replica id; step and molecules are taken from `live`.
State join(State live, const State& stopped);

/// Coordinates of one replica of a State: positions or velocities.
std::vector<double> replica_part(const State& state, const std::vector<double>& values,
                                 std::size_t replica);

/// Wraps an engine: positions in Frames are relative to the centre of mass of each replica. The
/// state and all quantities computed from it are unchanged.
std::unique_ptr<Engine> centred(std::unique_ptr<Engine> engine, const ClusterMasses& masses);

}  // namespace tarn
