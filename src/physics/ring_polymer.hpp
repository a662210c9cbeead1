#pragma once

#include <vector>

#include "tarn/physics/parameters.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// Ring polymers of path-integral dynamics, equations (80) to (83), in normal modes.
///
/// Mode 0 is the centroid times sqrt(P). The next modes are cos(2 pi k (j + 1/2)/P), k = 1, 2, ...,
/// and then sin(2 pi k (j + 1/2)/P), all normalised to 1, for the beads j = 0 .. P - 1.

namespace tarn {

/// Number of cosine modes, with the centroid.
constexpr int cosine_modes(int beads) { return (beads + 1) / 2; }
/// The wave number k of a mode: modes with the same k have the same frequency.
constexpr int wave_of_mode(int mode, int beads) {
  const int cosines = cosine_modes(beads);
  return mode < cosines ? mode : mode - cosines + 1;
}
/// Element of the orthogonal matrix from beads to modes, equation (80).
inline double mode_of_bead(int mode, int bead, int beads) {
  const int k = wave_of_mode(mode, beads);
  const bool alone = k == 0 || 2 * k == beads;  // without a partner of the same frequency
  const double norm = __builtin_sqrt((alone ? 1.0 : 2.0) / beads);
  // The angle is reduced exactly: multiples of pi/P below 2 pi.
  const long turn = static_cast<long>(k) * (2 * bead + 1) % (2L * beads);
  const double angle = units::pi * static_cast<double>(turn) / beads;
  return norm * (mode < cosine_modes(beads) ? __builtin_cos(angle) : __builtin_sin(angle));
}
/// P k T/hbar [1/akma].
inline double ring_frequency_per_akma(int beads, double temperature_K) {
  return beads * units::boltzmann_kcal_per_mol_K * temperature_K / units::hbar_kcal_akma_per_mol;
}
/// omega_k of springs between neighbouring beads, for a wave number k [kT/hbar].
inline double trotter_frequency(int wave, int beads) {
  return 2.0 * beads * __builtin_sin(units::pi * wave / beads);
}
/// The same of a mode [1/akma].
inline double mode_frequency_per_akma(int mode, int beads, double temperature_K) {
  return ring_frequency_per_akma(1, temperature_K) *
         trotter_frequency(wave_of_mode(mode, beads), beads);
}

/// Constants of one mode: half a step of the free ring polymer C, equation (81), and the noise O,
/// equation (82).
struct RingMode {
  double cosine;           ///< of C
  double sine_over_omega;  ///< [akma]; h/2 for the centroid
  double omega_sine;       ///< [1/akma]
  OuParameters<double> ou;
  double spring;                                     ///< omega_k^2 [1/akma^2]
  std::vector<AtomOuParameters<double>> isotope_ou;  ///< [molecule], with isotopes
};

/// All modes of a ring polymer.
/// @param temperature_K of the bath of the replica, not times P: one of the system's temperatures
std::vector<RingMode> ring_modes(const System& system, double temperature_K);

inline namespace TARN_ARCH {

/// Half a step of the free ring polymer, C: a rotation of (omega q, v), equation (81).
template <class T>
TARN_HD void rotate_ring(Triple<T>& q, Triple<T>& v, const T& cosine, const T& sine_over_omega,
                         const T& omega_sine) {
  const auto atom = [&](Vec3<T>& x, Vec3<T>& u) {
    const auto component = [&](T& a, T& b) {
      const T before = a;
      a = fma(sine_over_omega, b, cosine * a);
      b = fnma(omega_sine, before, cosine * b);
    };
    component(x.x, u.x);
    component(x.y, u.y);
    component(x.z, u.z);
  };
  atom(q.o, v.o);
  atom(q.h1, v.h1);
  atom(q.h2, v.h2);
}

}  // namespace TARN_ARCH
}  // namespace tarn
