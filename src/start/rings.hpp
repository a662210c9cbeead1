#pragma once

#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// Starts of ring polymers, whose states are normal modes (equation (80)).

namespace tarn::start {

/// The centroids of ring polymers as classical replicas. One bead: the state itself.
State centroids_of(const State& rings);

/// Ring polymers with these centroids. Without a source, all beads are at the centroid, and the
/// velocities of the other modes are drawn at P T unless the centroids are at rest by choice.
/// @param source ring polymers to continue from, with any number of beads; modes that they lack are
/// at rest at 0 or drawn; null: none
/// @param moving whether velocities are drawn for modes without a source
/// @param source_velocities whether those of the source are used
State rings_of(const System& system, State centroids, const State* source, bool moving,
               bool source_velocities);

}  // namespace tarn::start
