#pragma once

#include "tarn/physics/molecule_solve.hpp"
#include "tarn/physics/settle.hpp"
#include "tarn/physics/shake.hpp"
#include "tarn/steps/molecule_state.hpp"

/// @file
/// Velocity Verlet with rigid bonds: the constraint force of the position update goes into the
/// velocity as (x+ - x_free)/h.
///
/// SHAKE leaves the bond part of the velocity to the next position update; SETTLE removes it at the
/// end of the step (the velocity part of RATTLE). Both give the same positions.

namespace tarn {
inline namespace TARN_ARCH {

/// @return what SHAKE says of its iteration; x_free of a lane that did not converge is kept
template <class T, class S>
TARN_HD ShakeResult<T> shake_begin(MoleculeState<T>& s, const T& h,
                                   const BondReference<S>& reference, const Masses<S>& m,
                                   const S& tolerance) {
  const Triple<T> x_old = s.x;
  kick_and_drift(s, h);
  const ShakeResult<T> r = shake(x_old, s.x, reference, m, tolerance);
  s.v = fma(T(S(1)) / h, r.x - s.x, s.v);
  s.x = r.x;
  return r;
}

template <class T, class S>
TARN_HD void settle_begin(MoleculeState<T>& s, const T& h, const SettleParameters<S>& p) {
  const Triple<T> x_old = s.x;
  kick_and_drift(s, h);
  const Triple<T> x = settle(x_old, s.x, p);
  s.v = fma(T(S(1)) / h, x - s.x, s.v);
  s.x = x;
}

template <class T, class S>
TARN_HD void shake_end(MoleculeState<T>& s, const Triple<T>& f, const T& h, const Masses<S>& m) {
  s.a = scale(T(m.inverse_o), T(m.inverse_h), f);
  s.v = fma(T(S(0.5)) * h, s.a, s.v);
}

template <class T, class S>
TARN_HD void settle_end(MoleculeState<T>& s, const Triple<T>& f, const T& h, const Masses<S>& m) {
  shake_end(s, f, h, m);
  s.v = project_velocities(s.x, s.v, m);
}

}  // namespace TARN_ARCH
}  // namespace tarn
