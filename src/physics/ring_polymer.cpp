#include "tarn/physics/ring_polymer.hpp"

#include <cmath>

namespace tarn {

RingMode ring_mode(const System& system, int mode, double temperature_K) {
  const PathIntegralSpec& rings = system.path_integral;
  const double h = system.integrator.timestep_akma;
  const double omega = mode_frequency_per_akma(mode, rings.beads, temperature_K);
  RingMode m{};
  m.spring = omega * omega;
  const double half = 0.5 * omega * h;
  const double angle = rings.free_ring == FreeRing::cayley ? std::atan(half) : half;
  m.cosine = std::cos(angle);
  m.omega_sine = omega * std::sin(angle);
  m.sine_over_omega = mode == 0 ? 0.5 * h : std::sin(angle) / omega;
  ThermostatSpec t = system.thermostat;
  t.temperature_K = rings.beads * temperature_K;
  if (mode > 0) {
    t.friction_oxygen_per_akma = t.friction_hydrogen_per_akma =
        2.0 * rings.internal_friction * omega;
  } else if (rings.method == RingMethod::trpmd) {
    t.friction_oxygen_per_akma = t.friction_hydrogen_per_akma = 0.0;
  }
  m.ou = ou_parameters(system.model, t, h);
  return m;
}

}  // namespace tarn
