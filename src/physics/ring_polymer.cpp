#include "tarn/physics/ring_polymer.hpp"

#include <cmath>
#include <cstddef>

#include "tarn/physics/ring_frequencies.hpp"

namespace tarn {
namespace {

/// @param omega its frequency [1/akma]
RingMode constants_of(const System& system, int mode, double omega, double temperature_K) {
  const PathIntegralSpec& rings = system.path_integral;
  const double h = system.integrator.timestep_akma;
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

}  // namespace

std::vector<RingMode> ring_modes(const System& system, double temperature_K) {
  const PathIntegralSpec& rings = system.path_integral;
  const std::vector<double> reduced = reduced_ring(system).frequencies();
  const double unit_per_akma = ring_frequency_per_akma(1, temperature_K);
  std::vector<RingMode> modes;
  for (int mode = 0; mode < rings.beads; ++mode) {
    const int wave = wave_of_mode(mode, rings.beads);
    const double omega =
        wave == 0 ? 0.0 : unit_per_akma * reduced[static_cast<std::size_t>(wave - 1)];
    modes.push_back(constants_of(system, mode, omega, temperature_K));
  }
  return modes;
}

}  // namespace tarn
