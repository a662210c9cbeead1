#pragma once

#include "tarn/core/units.hpp"
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

inline double pairs_of(const Case& c) { return 0.5 * c.molecules * (c.molecules - 1); }

}  // namespace tarn::bench
