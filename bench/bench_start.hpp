#pragma once

#include <utility>
#include <vector>

#include "bench/bench_system.hpp"
#include "start/molecule_frame.hpp"
#include "tarn/start.hpp"
#include "tarn/state.hpp"

/// @file
/// The start of the engine benchmarks. CUDA code uses bench_system.hpp only: this includes Eigen.

namespace tarn::bench {

/// All replicas start from the same random cluster at rest: the work of a step does not depend on
/// the positions, and the noise makes the replicas differ.
inline State bench_start(const Case& c) {
  State state;
  state.molecules = c.molecules;
  const std::vector<double> x = random_cluster(*find_water_model(c.model), c.molecules, 1, 0);
  for (int r = 0; r < c.replicas; ++r) {
    state.replica_ids.push_back(r);
    state.positions_A.insert(state.positions_A.end(), x.begin(), x.end());
  }
  state.velocities_A_per_akma.assign(state.positions_A.size(), 0.0);
  return start::rings_of(bench_system(c), std::move(state), nullptr, true, false);
}

}  // namespace tarn::bench
