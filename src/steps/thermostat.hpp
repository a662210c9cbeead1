#pragma once

#include <type_traits>

#include "molecule_state.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/noise.hpp"
#include "rigid.hpp"

/// @file
/// Langevin dynamics by splitting, equations (21) and (37). The geometric Langevin algorithm (GLA,
/// Bou-Rabee & Owhadi 2010) has one exact Ornstein-Uhlenbeck step O after a deterministic step.
/// BAOAB (Leimkuhler & Matthews 2013; rigid bonds: 2016) has it in the middle: kick, half drift, O,
/// half drift, forces, kick.

namespace tarn::inline TARN_ARCH {

/// A tally that does nothing. Tallies receive the velocities before and after O, for ou_heat().
struct NoTally {
  template <class T>
  TARN_HD void operator()(const Triple<T>&, const Triple<T>&) const {}
};

/// O for penalised bonds.
/// @param kick_scale see ou_step
/// @param tally called with the velocities before and after O
template <class M, class Ou, class Tally = NoTally>
TARN_HD void thermostat_penalised(M& s, const Triple<number_t<M>>& xi, const Ou& p,
                                  const number_t<M>& kick_scale, const Tally& tally = {}) {
  const Triple<number_t<M>> before = s.v;
  s.v = ou_step(before, xi, p, kick_scale);
  tally(before, s.v);
}

/// O for rigid bonds. The bond part of the velocities, from kicks and noise, is not projected: the
/// next drift removes it by its multipliers, and the positions are the same because projections are
/// linear. Velocities are projected before O only if the friction differs between the atoms, since
/// O would otherwise convert the bond part to other motion. The tally receives projected
/// velocities.
template <class M, class Ou, class Constrain, class Tally = NoTally>
TARN_HD void thermostat_rigid(M& s, const Triple<number_t<M>>& xi, const Ou& p,
                              const number_t<M>& kick_scale, const Constrain& constrain,
                              const Tally& tally = {}) {
  if constexpr (std::is_same_v<Tally, NoTally>) {
    if (!decays_alike(p)) s.v = project(constrain, jacobi_vectors(s), s.v);
    s.v = ou_step(s.v, xi, p, kick_scale);
  } else {
    const JacobiVectors<number_t<M>> x = jacobi_vectors(s);
    const Triple<number_t<M>> before = project(constrain, x, s.v);
    if (!decays_alike(p)) s.v = before;
    s.v = ou_step(s.v, xi, p, kick_scale);
    tally(before, project(constrain, x, s.v));
  }
}

/// From the kick to the second half drift of BAOAB, penalised bonds.
/// @return velocities right after O, from which the temperature is computed
template <class M, class Ou, class Tally = NoTally>
TARN_HD Triple<number_t<M>> baoab_penalised(M& s, const number_t<M>& h,
                                            const Triple<number_t<M>>& xi, const Ou& p,
                                            const number_t<M>& kick_scale,
                                            const Tally& tally = {}) {
  const number_t<M> half = number_t<M>(scalar_t<number_t<M>>(0.5)) * h;
  kick(s, h);
  drift(s, half);
  thermostat_penalised(s, xi, p, kick_scale, tally);
  const Triple<number_t<M>> v = s.v;
  drift(s, half);
  return v;
}

/// The same for rigid bonds; the half drifts are on the constraints.
template <class T>
struct BaoabRigid {
  Triple<T> v;                   ///< right after O, with their bond part
  ShakeResult<T> first, second;  ///< results of the two half drifts
};
template <class M, class Ou, class Constrain, class Tally = NoTally>
TARN_HD BaoabRigid<number_t<M>> baoab_rigid(M& s, const number_t<M>& h,
                                            const Triple<number_t<M>>& xi, const Ou& p,
                                            const number_t<M>& kick_scale,
                                            const Constrain& constrain, const Tally& tally = {}) {
  BaoabRigid<number_t<M>> r;
  const number_t<M> half = number_t<M>(scalar_t<number_t<M>>(0.5)) * h;
  kick(s, h);
  JacobiVectors<number_t<M>> x = jacobi_vectors(s);
  r.first = constrained_drift(s, x, half, constrain);
  thermostat_rigid(s, xi, p, kick_scale, constrain, tally);
  r.v = s.v;
  r.second = constrained_drift(s, x, half, constrain);
  return r;
}

}  // namespace tarn::inline TARN_ARCH
