#pragma once

#include "engine_fixtures.hpp"
#include "physics/ring_frequencies.hpp"
#include "physics/ring_polymer.hpp"
#include "start/molecule_frame.hpp"
#include "steps/step_parameters.hpp"
#include "testing.hpp"

/// @file
/// Ring polymers for the tests of engines, and their steps by plain equations.

namespace tarn::test {

inline System ring_system(int beads, Bath bath, int molecules = 3,
                          Precision precision = Precision::double_) {
  System s = make_system({"flexible_verlet", bath}, tip4p(), molecules, precision);
  s.path_integral.beads = beads;
  s.path_integral.temperature_K = 200.0;
  if (bath == Bath::none) s.path_integral.method = RingMethod::rpmd;
  return s;
}
inline State ring_start(const System& system, const std::vector<std::int64_t>& ids,
                        std::int64_t step = 0) {
  return start::rings_of(system, start_state(system, ids, step), nullptr, true, false);
}

inline Bits bits_of_ring(const State& s, std::int64_t id) {
  Bits bits;
  for (std::size_t r = 0; r < s.replica_ids.size(); ++r) {
    if (s.replica_ids[r] != id) continue;
    append_bits({&s.positions_A[r * s.ring_coordinates()], s.ring_coordinates()}, bits);
    append_bits({&s.velocities_A_per_akma[r * s.ring_coordinates()], s.ring_coordinates()}, bits);
    if (s.heat_kcal_per_mol.empty()) continue;
    append_bits({&s.heat_kcal_per_mol[r * s.ring_coordinates() / 9], s.ring_coordinates() / 9},
                bits);
  }
  return bits;
}

/// A ring polymer by the equations: beads with their forces, kicked and turned in modes.
class PlainRing {
 public:
  PlainRing(const System& system, const State& start)
      : system_(system), force_field_(system.model, system.molecules), step_(start.step) {
    const int p = system.path_integral.beads;
    const std::size_t n = start.coordinates();
    for (int k = 0; k < p; ++k) {
      const auto from = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * n);
      q_.emplace_back(start.positions_A.begin() + from,
                      start.positions_A.begin() + from + static_cast<std::ptrdiff_t>(n));
      v_.emplace_back(start.velocities_A_per_akma.begin() + from,
                      start.velocities_A_per_akma.begin() + from + static_cast<std::ptrdiff_t>(n));
    }
    const ReducedRing ring = reduced_ring(system.path_integral, temperature_K());
    for (int k = 0; k < p; ++k) {
      const int wave = wave_of_mode(k, p);
      omega_.push_back(wave == 0 ? 0.0
                                 : ring_frequency_per_akma(1, temperature_K()) *
                                       ring.frequencies()[static_cast<std::size_t>(wave - 1)]);
    }
    forces();
  }
  void step() {
    const bool baoab = system_.thermostat.kind == Thermostat::baoab;
    kick();
    turn();
    if (baoab) noise();
    turn();
    forces();
    kick();
    if (system_.thermostat.kind == Thermostat::gla) noise();
    ++step_;
  }
  const std::vector<std::vector<double>>& q() const { return q_; }
  const std::vector<std::vector<double>>& v() const { return v_; }

 private:
  double temperature_K() const {
    return system_.thermostat.kind == Thermostat::none ? system_.path_integral.temperature_K
                                                       : system_.thermostat.temperature_K;
  }
  double mass(std::size_t c) const {
    return mass_of(system_, static_cast<int>(c / 9), static_cast<int>(c % 9 / 3));
  }
  void kick() {
    for (std::size_t k = 0; k < q_.size(); ++k) {
      for (std::size_t c = 0; c < q_[k].size(); ++c) {
        v_[k][c] += 0.5 * system_.integrator.timestep_akma * f_[k][c] / mass(c);
      }
    }
  }
  /// Half a Cayley step: a rotation by arctan(omega h/2).
  void turn() {
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const double omega = omega_[k];
      const double half = 0.5 * system_.integrator.timestep_akma;
      const double angle = std::atan(omega * half);
      for (std::size_t c = 0; c < q_[k].size(); ++c) {
        const double q = q_[k][c], v = v_[k][c];
        q_[k][c] = std::cos(angle) * q + (k == 0 ? half : std::sin(angle) / omega) * v;
        v_[k][c] = std::cos(angle) * v - omega * std::sin(angle) * q;
      }
    }
  }
  void noise() {
    const int p = static_cast<int>(q_.size());
    const auto n = static_cast<std::uint64_t>(system_.molecules);
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const double omega = omega_[k];
      for (std::uint64_t m = 0; m < n; ++m) {
        const MoleculeNormals xi = molecule_normals(
            system_.seed, 3, k * n + m, static_cast<std::uint64_t>(step_), NoiseStream::thermostat);
        for (std::size_t c = 0; c < 9; ++c) {
          const ThermostatSpec& t = system_.thermostat;
          double rate = k > 0   ? 2.0 * omega
                        : c < 3 ? t.friction_oxygen_per_akma
                                : t.friction_hydrogen_per_akma;
          if (k == 0 && t.friction_oxygen_per_akma != t.friction_hydrogen_per_akma) {
            rate *= system_.model.mass_Da(static_cast<int>(c / 3)) / mass(9 * m + c);
          }
          const double decay = std::exp(-rate * system_.integrator.timestep_akma);
          const double kT = units::boltzmann_kcal_per_mol_K * temperature_K() * p;
          double& v = v_[k][9 * m + c];
          v = decay * v + std::sqrt(kT / mass(9 * m + c) * (1.0 - decay * decay)) * xi.xi[c];
        }
      }
    }
  }
  void forces() {
    const int p = static_cast<int>(q_.size());
    const std::size_t n = q_[0].size();
    f_.assign(q_.size(), std::vector<double>(n, 0.0));
    std::vector<double> x(n), f(n);
    for (int j = 0; j < p; ++j) {
      std::fill(x.begin(), x.end(), 0.0);
      for (int k = 0; k < p; ++k) {
        for (std::size_t c = 0; c < n; ++c) {
          x[c] += mode_of_bead(k, j, p) * q_[static_cast<std::size_t>(k)][c];
        }
      }
      force_field_.energy_and_forces(x, f);
      for (int k = 0; k < p; ++k) {
        for (std::size_t c = 0; c < n; ++c) {
          f_[static_cast<std::size_t>(k)][c] += mode_of_bead(k, j, p) * f[c];
        }
      }
    }
  }

  System system_;
  ForceField force_field_;
  std::int64_t step_;
  std::vector<double> omega_;  // [mode]
  std::vector<std::vector<double>> q_, v_, f_;
};

}  // namespace tarn::test
