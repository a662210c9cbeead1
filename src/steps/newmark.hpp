#pragma once

#include "molecule_state.hpp"
#include "physics/molecule_solve.hpp"

/// @file
/// Newmark's method with gamma = 1/2 for the penalised system: push-forward Newmark, solved to
/// round-off in the coordinates in which it is symplectic, and one-step Newmark, with a single step
/// of Newton's method. Both are baselines for Z&Ss, which is the first correction of push-forward
/// Newmark.

namespace tarn::inline TARN_ARCH {

/// Push-forward Newmark has converged when a correction moves q by less than this times its norm
/// (about ten times the rounding of q). It has failed after kMostCorrections.
inline constexpr double kSolvedToRoundOff = 1e-15;
inline constexpr int kMostCorrections = 60;

/// Whether the iteration has converged.
/// @param change2 squared norm of the change of q of a cluster by a correction
/// @param size2 squared norm of q
TARN_HD bool is_solved_to_round_off(double change2, double size2) {
  return change2 <= kSolvedToRoundOff * kSolvedToRoundOff * size2;
}

/// One step of Newton's method for the acceleration of push-forward Newmark, TO 2.2 and equation
/// (25),
///   M a = -grad V(q) at q = x + b h^2 a, V = V0 + V1,
/// with the Gauss-Newton matrix M + b h^2 omega^2 J^T J at q instead of the whole derivative. It
/// converges linearly, with a factor of about b h^2 |M^-1 Hess V0|.
/// @param f0 force without the bonds at q
/// @return correction of a [A/akma^2]
template <class T, class S, class M>
TARN_HD Triple<T> pushforward_newmark_correction(const Triple<T>& q, const Triple<T>& a,
                                                 const Triple<T>& f0,
                                                 const BondReference<S>& reference, const M& m,
                                                 const ZssParameters<S>& p) {
  return zss_acceleration(q, f0 - times_masses(m, a), reference, m, p);
}

/// h M v.
template <class T, class M>
TARN_HD Triple<T> impulse(const M& m, const T& h, const Triple<T>& v) {
  if constexpr (requires { m.h; }) {
    return scale(h * T(m.o), h * T(m.h), v);
  } else {
    return {(h * T(m.o)) * v.o, (h * T(m.h1())) * v.h1, (h * T(m.h2())) * v.h2};
  }
}

/// The drift of one-step Newmark, after the first kick, equation (26):
///   (M + b h^2 H1(q)) dq = M (h v + h^2/2 a),  H1 = omega^2 J^T J (Gauss-Newton).
template <class T, class S, class M>
TARN_HD void newmark_drift(MoleculeState<T>& s, const T& h, const M& m, const ZssParameters<S>& p) {
  const T zero = T(S(0));
  const Triple<T> momentum = impulse(m, h, s.v);
  s.x = s.x + gauss_newton_solve(bonds(s.x), momentum, BondValues<T>{zero, zero, zero}, m, p);
}

/// The same with H1 the full Hessian of the penalty.
/// @return whether the matrix is positive definite; if not, the state is undefined
template <class T, class S, class M>
TARN_HD mask_t<T> newmark_full_drift(MoleculeState<T>& s, const T& h,
                                     const BondReference<S>& reference, const M& m,
                                     const ZssParameters<S>& p) {
  const T zero = T(S(0));
  const Bonds<T> b = bonds(s.x);
  const Triple<T> momentum = impulse(m, h, s.v);
  const FullAcceleration<T> full = full_hessian_solve(b, momentum, constraint_values(b, reference),
                                                      BondValues<T>{zero, zero, zero}, m, p);
  s.x = s.x + full.a;
  return full.definite;
}

}  // namespace tarn::inline TARN_ARCH
