#pragma once

#include "flexible.hpp"
#include "physics/ring_polymer.hpp"
#include "thermostat.hpp"

/// @file
/// A step of ring polymers for one molecule of one mode, equations (81) and (82).

namespace tarn {
inline namespace TARN_ARCH {

/// Constants of a mode; see RingMode.
template <class T, class Ou = OuParameters<T>>
struct ModeNumbers {
  T cosine, sine_over_omega, omega_sine;
  Ou ou;
};

/// O of a mode.
/// @param tally see thermostat_penalised
template <class T, class Ou, class Tally = NoTally>
TARN_HD void ring_noise(const ModeNumbers<T, Ou>& c, const Triple<T>& xi, MoleculeState<T>& s,
                        const Tally& tally = {}) {
  const Triple<T> before = s.v;
  s.v = ou_step(before, xi, c.ou);
  tally(before, s.v);
}

/// The part of a step before the forces: kick, C, the middle, C.
/// @param middle called with the state: O of BAOAB, or nothing
template <class T, class Ou, class Middle>
TARN_HD void begin_ring(const ModeNumbers<T, Ou>& c, const T& h, MoleculeState<T>& s,
                        const Middle& middle) {
  kick(s, h);
  rotate_ring(s.x, s.v, c.cosine, c.sine_over_omega, c.omega_sine);
  middle(s);
  rotate_ring(s.x, s.v, c.cosine, c.sine_over_omega, c.omega_sine);
}

}  // namespace TARN_ARCH
}  // namespace tarn
