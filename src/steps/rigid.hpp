#pragma once

#include <type_traits>

#include "molecule_state.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/settle.hpp"
#include "physics/shake.hpp"

/// @file
/// Velocity Verlet with rigid bonds, equation (54): the constraint force of the position update
/// adds (x+ - x_free)/h to the velocity.
///
/// RATTLE and SETTLE without noise remove the bond part of the velocity at the end of the step.
/// SHAKE, and all schemes with noise, leave it to the next position update. All schemes have the
/// same positions.

namespace tarn::inline TARN_ARCH {

/// A constraint algorithm: move() moves `free` onto the constraints along the gradients at `old`;
/// along_bonds() is the part of a change u that is due to forces along the bonds of x.
template <bool kSweeps, class S, class M = Masses<S>>
struct ConstrainByIteration {
  BondReference<S> bonds;
  M masses;
  S tolerance;
  template <class T>
  TARN_HD ShakeResult<T> move(const JacobiVectors<T>& old, const JacobiVectors<T>& free) const {
    if constexpr (kSweeps) {
      return shake_sweeps(old, free, bonds, masses, tolerance);
    } else {
      return shake_newton(old, free, bonds, masses, tolerance);
    }
  }
  /// A general solve, because bonds hold to the tolerance only.
  template <class T>
  TARN_HD JacobiVectors<T> along_bonds(const JacobiVectors<T>& x, const JacobiVectors<T>& u) const {
    return part_along_bonds(x, u, masses);
  }
};
template <class S>
using ConstrainByNewton = ConstrainByIteration<false, S>;
template <class S>
using ConstrainBySweeps = ConstrainByIteration<true, S>;
template <class S>
struct ConstrainBySettle {
  SettleParameters<S> triangle;
  Masses<S> masses;
  template <class T>
  TARN_HD ShakeResult<T> move(const JacobiVectors<T>& old, const JacobiVectors<T>& free) const {
    const T zero = T(S(0));
    return {settle(old, free, triangle), zero < T(S(1)), zero};
  }
  template <class T>
  TARN_HD JacobiVectors<T> along_bonds(const JacobiVectors<T>& x, const JacobiVectors<T>& u) const {
    return part_along_bonds(x, u, masses, triangle);
  }
};
/// Projects velocities at x onto the constraints, equation (20).
template <class T, class Constrain>
TARN_HD Triple<T> project(const Constrain& constrain, const JacobiVectors<T>& x,
                          const Triple<T>& v) {
  return add_change(T(scalar_t<T>(-1)), constrain.along_bonds(x, jacobi_vectors(v)),
                    constrain.masses, v);
}

/// Whether the state is in single precision, where rounding errors must be projected.
template <class M>
inline constexpr bool kFloats = std::is_same_v<scalar_t<number_t<M>>, float>;

/// Moves x <- x + h v onto the constraints and changes v accordingly.
/// @param x in and out: Jacobi vectors of s
/// @return result of the iteration; a lane that did not converge has its last iterate
template <class M, class Constrain, class T = number_t<M>>
TARN_HD ShakeResult<T> constrained_drift(M& s, JacobiVectors<T>& x, const number_t<M>& h,
                                         const Constrain& constrain) {
  const JacobiVectors<T> free = fma(h, jacobi_vectors(s.v), x);
  ShakeResult<T> r = constrain.move(x, free);
  // The rounding of 1e-7 A in all directions would heat the system: only the part along the bonds
  // is added to the velocities.
  if constexpr (kFloats<M>) r.change = constrain.along_bonds(x, r.change);
  s.v = add_change(T(scalar_t<T>(1)) / h, r.change, constrain.masses, s.v);
  drift(s, h);
  x = drifted_vectors(s, free + r.change);
  return r;
}
template <class M, class Constrain>
TARN_HD ShakeResult<number_t<M>> constrained_drift(M& s, const number_t<M>& h,
                                                   const Constrain& constrain) {
  JacobiVectors<number_t<M>> x = jacobi_vectors(s);
  return constrained_drift(s, x, h, constrain);
}

/// Ends a step with SHAKE or with noise: velocities keep their bond part.
template <class M, class Mass>
TARN_HD void kick_end(M& s, const Triple<number_t<M>>& f, const number_t<M>& h, const Mass& m) {
  s.a = over_masses(m, f);
  kick(s, h);
}

/// Forces minus their part along the bonds, by the transpose of equation (20).
template <class T, class Constrain>
TARN_HD Triple<T> project_forces(const Constrain& constrain, const JacobiVectors<T>& x,
                                 const Triple<T>& f) {
  const auto& m = constrain.masses;
  const Triple<T> a = over_masses(m, f);
  return add_forces(T(scalar_t<T>(-1)), constrain.along_bonds(x, jacobi_vectors(a)), m, f);
}

/// Ends a RATTLE or SETTLE step without noise: projects the velocities by one linear solve.
template <class M, class Constrain>
TARN_HD void rattle_end(M& s, const Triple<number_t<M>>& f, const number_t<M>& h,
                        const Constrain& constrain) {
  const JacobiVectors<number_t<M>> x = jacobi_vectors(s);
  if constexpr (kFloats<M>) {
    // The part along the bonds would enter the velocities here and leave them in the next drift,
    // with a rounding error.
    kick_end(s, project_forces(constrain, x, f), h, constrain.masses);
  } else {
    kick_end(s, f, h, constrain.masses);
  }
  s.v = project(constrain, x, s.v);
}

}  // namespace tarn::inline TARN_ARCH
