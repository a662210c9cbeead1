#pragma once

#include "physics/jacobi_vectors.hpp"

/// @file
/// The state of a molecule and the functions that steps require of it. A state has velocities v and
/// accelerations a with numbers of type `Number`. single.hpp has the state in single precision.

namespace tarn::inline TARN_ARCH {

/// Position, velocity and acceleration of one molecule.
template <class T>
struct MoleculeState {
  using Number = T;
  Triple<T> x, v, a;
};
/// The number type of a state.
template <class M>
using number_t = typename M::Number;

/// v <- v + h/2 a, of equations (10) and (54).
template <class M>
TARN_HD void kick(M& s, const number_t<M>& h) {
  using T = number_t<M>;
  s.v = fma(T(scalar_t<T>(0.5)) * h, s.a, s.v);
}

/// x <- x + h v.
template <class T>
TARN_HD void drift(MoleculeState<T>& s, const T& h) {
  s.x = fma(h, s.v, s.x);
}

/// Positions up to a translation of the molecule; the formulas use differences only.
template <class T>
TARN_HD const Triple<T>& shape_of(const MoleculeState<T>& s) {
  return s.x;
}
template <class T>
TARN_HD JacobiVectors<T> jacobi_vectors(const MoleculeState<T>& s) {
  return jacobi_vectors(s.x);
}
/// Jacobi vectors after a drift.
/// @param sum the same vectors up to rounding, as computed by the drift
template <class T>
TARN_HD const JacobiVectors<T>& drifted_vectors(const MoleculeState<T>&,
                                                const JacobiVectors<T>& sum) {
  return sum;
}

}  // namespace tarn::inline TARN_ARCH
