#pragma once

#include "tarn/physics/molecule_solve.hpp"
#include "tarn/physics/settle.hpp"
#include "tarn/physics/shake.hpp"
#include "tarn/steps/molecule_state.hpp"

/// @file
/// Velocity Verlet with rigid bonds: the constraint force of the position update goes into the
/// velocity as (x+ - x_free)/h.
///
/// SHAKE leaves the bond part of the velocity to the next position update; RATTLE and SETTLE remove
/// it at the end of the step. All give the same positions.

namespace tarn {
inline namespace TARN_ARCH {

/// A way to put x_free onto the constraints along the gradients at x_old; each has the operator
/// (x_old, x_free) -> ShakeResult.
struct ConstrainByNewton {
  BondReference<double> bonds;
  Masses<double> masses;
  double tolerance;
  template <class T>
  TARN_HD ShakeResult<T> operator()(const Triple<T>& x_old, const Triple<T>& x_free) const {
    return shake_newton(x_old, x_free, bonds, masses, tolerance);
  }
};
struct ConstrainBySweeps {
  BondReference<double> bonds;
  Masses<double> masses;
  double tolerance;
  template <class T>
  TARN_HD ShakeResult<T> operator()(const Triple<T>& x_old, const Triple<T>& x_free) const {
    return shake_sweeps(x_old, x_free, bonds, masses, tolerance);
  }
};
struct ConstrainBySettle {
  SettleParameters<double> triangle;
  template <class T>
  TARN_HD ShakeResult<T> operator()(const Triple<T>& x_old, const Triple<T>& x_free) const {
    const T zero = T(0.0);
    return {settle(x_old, x_free, triangle), zero < T(1.0), zero};
  }
};

/// x <- x + h v on the constraints; what they do to x goes into v.
/// @return what the iteration says; a lane that did not converge holds its last iterate
template <class T, class Constrain>
TARN_HD ShakeResult<T> constrained_drift(MoleculeState<T>& s, const T& h,
                                         const Constrain& constrain) {
  const Triple<T> x_old = s.x;
  drift(s, h);
  const ShakeResult<T> r = constrain(x_old, s.x);
  s.v = fma(T(1.0) / h, r.x - s.x, s.v);
  s.x = r.x;
  return r;
}

/// The end of a SHAKE step: velocities keep a bond part.
template <class T, class S>
TARN_HD void shake_end(MoleculeState<T>& s, const Triple<T>& f, const T& h, const Masses<S>& m) {
  s.a = scale(T(m.inverse_o), T(m.inverse_h), f);
  kick(s, h);
}

/// The end of a RATTLE or SETTLE step: velocities on the constraints, by one linear solve.
template <class T, class S>
TARN_HD void rattle_end(MoleculeState<T>& s, const Triple<T>& f, const T& h, const Masses<S>& m) {
  shake_end(s, f, h, m);
  s.v = project_velocities(s.x, s.v, m);
}

}  // namespace TARN_ARCH
}  // namespace tarn
