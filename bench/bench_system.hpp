#pragma once

#include <utility>
#include <vector>

#include "start/molecule_frame.hpp"
#include "tarn/core/units.hpp"
#include "tarn/start.hpp"
#include "tarn/state.hpp"
#include "tarn/system.hpp"

/// @file
/// The system of the engine benchmarks: clusters of one size, TIP3P by default, steps of 0.5 fs.

namespace tarn::bench {

struct Case {
  const char* name;
  int molecules;
  int replicas;
  Scheme scheme;
  Precision precision;
  Thermostat thermostat;
  Solver solver = Solver::structured;
  const char* model = "tip3p";
  int beads = 1;  ///< of ring polymers
};

inline System bench_system(const Case& c) {
  System system;
  system.model = *find_water_model(c.model);
  system.molecules = c.molecules;
  system.integrator.scheme = c.scheme;
  system.integrator.solver = c.solver;
  system.integrator.timestep_akma = units::akma_from_fs(0.5);
  system.precision = c.precision;
  if (c.thermostat != Thermostat::none) {
    system.thermostat.kind = c.thermostat;
    system.thermostat.temperature_K = 10.0;
    system.thermostat.friction_oxygen_per_akma = units::per_akma_from_per_ps(50.0);
    system.thermostat.friction_hydrogen_per_akma = units::per_akma_from_per_ps(50.0);
  }
  system.path_integral.beads = c.beads;
  return system;
}

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

inline double pairs_of(const Case& c) { return 0.5 * c.molecules * (c.molecules - 1); }

}  // namespace tarn::bench
