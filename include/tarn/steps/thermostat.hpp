#pragma once

#include "tarn/physics/molecule_solve.hpp"
#include "tarn/physics/ou.hpp"
#include "tarn/steps/molecule_state.hpp"
#include "tarn/steps/rigid.hpp"

/// @file
/// Langevin dynamics by splitting. The geometric Langevin algorithm (Bou-Rabee & Owhadi 2010) puts
/// one exact Ornstein-Uhlenbeck step O after a deterministic step. BAOAB (Leimkuhler & Matthews
/// 2013; rigid bonds: 2016) puts it into the middle: kick, half drift, O, half drift, forces, kick.

namespace tarn {
inline namespace TARN_ARCH {

/// O for penalised bonds.
/// @param kick_scale see ou_step
template <class T, class S>
TARN_HD void thermostat_penalised(MoleculeState<T>& s, const Triple<T>& xi,
                                  const OuParameters<S>& p, const T& kick_scale) {
  s.v = ou_step(s.v, xi, p, kick_scale);
}

/// O for rigid bonds: velocities are projected after it, and before it too, which matters when the
/// friction differs between the atoms.
/// @param x those of s.x
template <class T, class S, class Constrain>
TARN_HD void thermostat_rigid(MoleculeState<T>& s, const JacobiVectors<T>& x, const Triple<T>& xi,
                              const OuParameters<S>& p, const T& kick_scale,
                              const Constrain& constrain) {
  if (p.decay_o != p.decay_h) s.v = constrain.project(x, s.v);
  s.v = constrain.project(x, ou_step(s.v, xi, p, kick_scale));
}
template <class T, class S, class Constrain>
TARN_HD void thermostat_rigid(MoleculeState<T>& s, const Triple<T>& xi, const OuParameters<S>& p,
                              const T& kick_scale, const Constrain& constrain) {
  thermostat_rigid(s, jacobi_vectors(s.x), xi, p, kick_scale, constrain);
}

/// From the kick to the second half drift of BAOAB, penalised bonds.
/// @return velocities right after O, where the temperature is measured
template <class T, class S>
TARN_HD Triple<T> baoab_penalised(MoleculeState<T>& s, const T& h, const Triple<T>& xi,
                                  const OuParameters<S>& p, const T& kick_scale) {
  const T half = T(S(0.5)) * h;
  kick(s, h);
  drift(s, half);
  thermostat_penalised(s, xi, p, kick_scale);
  const Triple<T> v = s.v;
  drift(s, half);
  return v;
}

/// The same for rigid bonds; the half drifts go along the constraints. Velocities are projected
/// where O needs it, and by the end of the step. What a kick adds along the gradients of the
/// constraints needs no projection of its own: the next half drift takes it up in its multipliers,
/// and what that leaves of the kind goes in the next projection, since projections are linear.
template <class T>
struct BaoabRigid {
  Triple<T> v;                   ///< right after O
  ShakeResult<T> first, second;  ///< of the two half drifts
};
template <class T, class S, class Constrain>
TARN_HD BaoabRigid<T> baoab_rigid(MoleculeState<T>& s, const T& h, const Triple<T>& xi,
                                  const OuParameters<S>& p, const T& kick_scale,
                                  const Constrain& constrain) {
  BaoabRigid<T> r;
  const T half = T(S(0.5)) * h;
  kick(s, h);
  JacobiVectors<T> x = jacobi_vectors(s.x);
  r.first = constrained_drift(s, x, half, constrain);
  thermostat_rigid(s, x, xi, p, kick_scale, constrain);
  r.v = s.v;
  r.second = constrained_drift(s, x, half, constrain);
  return r;
}

}  // namespace TARN_ARCH
}  // namespace tarn
