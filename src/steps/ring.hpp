#pragma once

#include "physics/ring_polymer.hpp"
#include "thermostat.hpp"

/// @file
/// A step of ring polymers for one molecule of one mode, equations (81) and (82).

namespace tarn::inline TARN_ARCH {

/// Constants of a mode; see RingMode.
template <class T>
struct ModeNumbers {
  T cosine, sine_over_omega, omega_sine;
  OuParameters<T> ou;
};

/// O of a mode.
/// @param tally see thermostat_penalised
template <class T, class Tally = NoTally>
TARN_HD void ring_noise(const ModeNumbers<T>& c, const Triple<T>& xi, MoleculeState<T>& s,
                        const Tally& tally = {}) {
  const Triple<T> before = s.v;
  s.v = ou_step(before, xi, c.ou);
  tally(before, s.v);
}

/// The part of a step before the forces: kick, C, the middle, C.
/// @param middle called with the state: O of BAOAB, or nothing
template <class T, class Middle>
TARN_HD void begin_ring(const ModeNumbers<T>& c, const T& h, MoleculeState<T>& s,
                        const Middle& middle) {
  kick(s, h);
  rotate_ring(s.x, s.v, c.cosine, c.sine_over_omega, c.omega_sine);
  middle(s);
  rotate_ring(s.x, s.v, c.cosine, c.sine_over_omega, c.omega_sine);
}

}  // namespace tarn::inline TARN_ARCH
