#pragma once

#include "jacobi_vectors.hpp"
#include "penalty.hpp"

/// @file
/// Linear solves of one molecule, with its three bonds as unknowns.

namespace tarn::inline TARN_ARCH {

/// A symmetric 3x3 matrix over the bonds.
template <class T>
struct SymmetricMatrix3 {
  T s11, s12, s13, s22, s23, s33;
};

/// S y = r by cofactors, with one division.
template <class T>
TARN_HD BondValues<T> solve(const SymmetricMatrix3<T>& s, const BondValues<T>& r) {
  const T c11 = fnma(s.s23, s.s23, s.s22 * s.s33);
  const T c12 = fnma(s.s12, s.s33, s.s13 * s.s23);
  const T c13 = fnma(s.s13, s.s22, s.s12 * s.s23);
  const T c22 = fnma(s.s13, s.s13, s.s11 * s.s33);
  const T c23 = fnma(s.s11, s.s23, s.s12 * s.s13);
  const T c33 = fnma(s.s12, s.s12, s.s11 * s.s22);
  const T one = T(scalar_t<T>(1));
  const T inverse = one / fma(s.s11, c11, fma(s.s12, c12, s.s13 * c13));
  return {inverse * fma(c11, r.oh1, fma(c12, r.oh2, c13 * r.hh)),
          inverse * fma(c12, r.oh1, fma(c22, r.oh2, c23 * r.hh)),
          inverse * fma(c13, r.oh1, fma(c23, r.oh2, c33 * r.hh))};
}

/// shift I + J M^-1 J^T, symmetric positive definite for shift >= 0.
///
/// J M^-1 J^T has 4 (d_c . d_e) kappa_ce, kappa from the inverse masses of shared atoms; the dot
/// products follow from the three squared lengths: equation (12).
template <class T, class M>
TARN_HD SymmetricMatrix3<T> bond_matrix(const Bonds<T>& b, const M& m, const T& shift) {
  const T l1 = b.length2.oh1, l2 = b.length2.oh2, l3 = b.length2.hh;
  const T w_o = T(4 * m.inverse_o), w_1 = T(4 * m.inverse_h1()), w_2 = T(4 * m.inverse_h2());
  const T d12 = T(scalar_t<T>(0.5)) * (l1 + l2 - l3);  // d1 . d2
  // d3 = d2 - d1; bonds 1 and 3 share H1 with opposite signs of the gradient.
  return {fma(w_o + w_1, l1, shift), w_o * d12,        w_1 * (l1 - d12),
          fma(w_o + w_2, l2, shift), w_2 * (l2 - d12), fma(w_1 + w_2, l3, shift)};
}

/// S y = r with S = shift I + J M^-1 J^T.
template <class T, class M>
TARN_HD BondValues<T> solve_bonds(const Bonds<T>& b, const M& m, const T& shift,
                                  const BondValues<T>& r) {
  return solve(bond_matrix(b, m, shift), r);
}

/// The solution y of the Gauss-Newton solve for given g, without forming omega^2 g:
///   (I/(b h^2 omega^2) + J M^-1 J^T) y = J M^-1 F0 + g/(b h^2),   equation (11).
/// @param b bonds at x
/// @param f0 force without the bonds, -grad V0 [kcal/mol/A]
template <class T, class S, class M>
TARN_HD BondValues<T> zss_bond_solution(const Bonds<T>& b, const Triple<T>& f0,
                                        const BondValues<T>& g, const M& m,
                                        const ZssParameters<S>& p) {
  const BondValues<T> ju = apply_jacobian(b, over_masses(m, f0));
  const T k = T(p.inverse_bh2);
  return solve_bonds(
      b, m, T(p.inverse_bh2w2),
      BondValues<T>{fma(k, g.oh1, ju.oh1), fma(k, g.oh2, ju.oh2), fma(k, g.hh, ju.hh)});
}

/// a = M^-1 (F0 - J^T y) [A/akma^2], equation (11).
/// @param y zss_bond_solution()
template <class T, class M>
TARN_HD Triple<T> gauss_newton_acceleration(const Bonds<T>& b, const Triple<T>& f0,
                                            const BondValues<T>& y, const M& m) {
  return over_masses(m, f0 - apply_jacobian_transposed(b, y));
}

/// The solution a of (M + b h^2 omega^2 J^T J) a = F0 - omega^2 J^T g with g given, equation (11).
template <class T, class S, class M>
TARN_HD Triple<T> gauss_newton_solve(const Bonds<T>& b, const Triple<T>& f0, const BondValues<T>& g,
                                     const M& m, const ZssParameters<S>& p) {
  return gauss_newton_acceleration(b, f0, zss_bond_solution(b, f0, g, m, p), m);
}

/// The Gauss-Newton acceleration at x.
template <class T, class S, class M>
TARN_HD Triple<T> zss_acceleration(const Triple<T>& x, const Triple<T>& f0,
                                   const BondReference<S>& reference, const M& m,
                                   const ZssParameters<S>& p) {
  const Bonds<T> b = bonds(x);
  return gauss_newton_solve(b, f0, constraint_values(b, reference), m, p);
}

/// The full Hessian of the penalty (TO 2.6 as printed, equation (13)). In addition to omega^2 J^T J
/// it contains the curvature of the constraints, omega^2 sum g_c Hess g_c. The mass matrix is
/// replaced by D x I3 with D = diag(m) + 2 b h^2 omega^2 sum g_c e_c e_c^T, e_c = (-1 at the start,
/// +1 at the end of bond c):
///   (I/(b h^2 omega^2) + J D^-1 J^T) y = J D^-1 F0 + g/(b h^2),   a = D^-1 (F0 - J^T y).
/// The 9x9 matrix is positive definite exactly when the 3x3 matrix D is.
template <class T>
struct FullAcceleration {
  Triple<T> a;
  mask_t<T> definite;  ///< if false, a is undefined
};
/// @param g constraint values for the curvature
/// @param g_right constraint values of the right-hand side, F0 - omega^2 J^T g_right
template <class T, class S, class M>
TARN_HD FullAcceleration<T> full_hessian_solve(const Bonds<T>& b, const Triple<T>& f0,
                                               const BondValues<T>& g, const BondValues<T>& g_right,
                                               const M& m, const ZssParameters<S>& p) {
  const T zero = T(S(0)), one = T(S(1));
  const T two_bh2w2 = T(S(2) / p.inverse_bh2w2);
  const T k1 = two_bh2w2 * g.oh1, k2 = two_bh2w2 * g.oh2, k3 = two_bh2w2 * g.hh;
  // D over the atoms O, H1, H2, and its inverse W by cofactors.
  const T d00 = T(m.o) + (k1 + k2), d11 = T(m.h1()) + (k1 + k3), d22 = T(m.h2()) + (k2 + k3);
  const T d01 = -k1, d02 = -k2, d12 = -k3;
  const T c00 = fnma(d12, d12, d11 * d22);
  const T c01 = fnma(d01, d22, d02 * d12);
  const T c02 = fnma(d02, d11, d01 * d12);
  const T c11 = fnma(d02, d02, d00 * d22);
  const T c12 = fnma(d00, d12, d01 * d02);
  const T c22 = fnma(d01, d01, d00 * d11);
  const T determinant = fma(d00, c00, fma(d01, c01, d02 * c02));
  FullAcceleration<T> r;
  r.definite = (zero < d00) & (zero < c22) & (zero < determinant);
  const T inverse = one / determinant;
  const T w00 = inverse * c00, w01 = inverse * c01, w02 = inverse * c02;
  const T w11 = inverse * c11, w12 = inverse * c12, w22 = inverse * c22;
  const auto apply = [&](const Triple<T>& u) -> Triple<T> {
    return {fma(w00, u.o, fma(w01, u.h1, w02 * u.h2)), fma(w01, u.o, fma(w11, u.h1, w12 * u.h2)),
            fma(w02, u.o, fma(w12, u.h1, w22 * u.h2))};
  };
  // kappa_ce = e_c^T W e_e with e_1 = (-1, 1, 0), e_2 = (-1, 0, 1), e_3 = (0, -1, 1).
  const T e11 = w00 - (w01 + w01) + w11;
  const T e22 = w00 - (w02 + w02) + w22;
  const T e33 = w11 - (w12 + w12) + w22;
  const T e12 = (w00 - w02) - (w01 - w12);
  const T e13 = (w01 - w02) - (w11 - w12);
  const T e23 = (w01 - w02) - (w12 - w22);
  const T half = T(S(0.5)), four = T(S(4));
  const T l1 = b.length2.oh1, l2 = b.length2.oh2, l3 = b.length2.hh;
  const T q12 = half * (l1 + l2 - l3);  // d1 . d2
  const T q13 = q12 - l1, q23 = l2 - q12;
  const T shift = T(p.inverse_bh2w2);
  const SymmetricMatrix3<T> s{fma(four * e11, l1, shift), four * e12 * q12,
                              four * e13 * q13,           fma(four * e22, l2, shift),
                              four * e23 * q23,           fma(four * e33, l3, shift)};
  const BondValues<T> ju = apply_jacobian(b, apply(f0));
  const T k = T(p.inverse_bh2);
  const BondValues<T> y =
      solve(s, BondValues<T>{fma(k, g_right.oh1, ju.oh1), fma(k, g_right.oh2, ju.oh2),
                             fma(k, g_right.hh, ju.hh)});
  r.a = apply(f0 - apply_jacobian_transposed(b, y));
  return r;
}

/// The acceleration at x with the full Hessian of the penalty.
template <class T, class S, class M>
TARN_HD FullAcceleration<T> zss_full_acceleration(const Triple<T>& x, const Triple<T>& f0,
                                                  const BondReference<S>& reference, const M& m,
                                                  const ZssParameters<S>& p) {
  const Bonds<T> b = bonds(x);
  const BondValues<T> g = constraint_values(b, reference);
  return full_hessian_solve(b, f0, g, g, m, p);
}

/// The multipliers lambda = -y of the acceleration a at x, M a = F0 + J^T lambda, from
/// y = omega^2 (g + b h^2 J a), equation (14) [kcal/mol/A^2]. Only for finite omega; with the full
/// Hessian M a has an additional term.
template <class T, class S>
TARN_HD BondValues<T> zss_multipliers(const Triple<T>& x, const Triple<T>& a,
                                      const BondReference<S>& reference, const S& bh2,
                                      const S& omega) {
  const Bonds<T> b = bonds(x);
  const BondValues<T> g = constraint_values(b, reference);
  const BondValues<T> ja = apply_jacobian(b, a);
  const T k = T(bh2), w2 = T(-(omega * omega));
  return {w2 * fma(k, ja.oh1, g.oh1), w2 * fma(k, ja.oh2, g.oh2), w2 * fma(k, ja.hh, g.hh)};
}

/// The multipliers of rigid bonds from the state alone: M a = f + J^T lambda with the acceleration
/// that keeps the second time derivative of g at zero,
///   J M^-1 J^T lambda = -J M^-1 f - 2 |d_c'|^2,   equation (31).
/// @param f force without the bonds [kcal/mol/A]; @param v velocities with J v = 0 [A/akma]
/// @return [kcal/mol/A^2]
template <class T, class M>
TARN_HD BondValues<T> rigid_multipliers(const Triple<T>& x, const Triple<T>& v, const Triple<T>& f,
                                        const M& m) {
  const Bonds<T> b = bonds(x);
  const BondValues<T> ju = apply_jacobian(b, over_masses(m, f));
  const T two = T(scalar_t<T>(2));
  return solve_bonds(
      b, m, T(scalar_t<T>(0)),
      BondValues<T>{-fma(two, norm2(v.h1 - v.o), ju.oh1), -fma(two, norm2(v.h2 - v.o), ju.oh2),
                    -fma(two, norm2(v.h2 - v.h1), ju.hh)});
}

/// The part of a change u of s and d that is caused by forces along the bonds of x, M^-1 J^T (J
/// M^-1 J^T)^-1 J u: I - P of equation (20). The remaining part does not change the bonds to first
/// order.
template <class T, class M>
TARN_HD JacobiVectors<T> part_along_bonds(const JacobiVectors<T>& x, const JacobiVectors<T>& u,
                                          const M& m) {
  const auto w = inverse_masses<T>(m);
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const JacobiProducts<T> y = solve_along_bonds(x, x, w, products_of_change(x, u), zero < one);
  return change_along_bonds(x, y, w);
}
/// The same if the bonds hold to rounding: the matrix is then diagonal and constant.
template <class T, class S>
TARN_HD JacobiVectors<T> part_along_bonds(const JacobiVectors<T>& x, const JacobiVectors<T>& u,
                                          const Masses<S>& m, const SettleParameters<S>& p) {
  const JacobiProducts<T> rates = products_of_change(x, u);
  const JacobiProducts<T> y{T(p.inverse_s * p.inverse_s) * rates.ss,
                            T(p.inverse_d * p.inverse_d) * rates.dd, T(p.inverse_turn) * rates.sd};
  return change_along_bonds(x, y, T(m.w));
}

/// Velocities with J v = 0, equation (20): v minus its part along the bonds.
/// @param p SettleParameters if the bonds hold to rounding, else nothing
template <class T, class M, class... P>
TARN_HD Triple<T> project_velocities(const JacobiVectors<T>& x, const Triple<T>& v, const M& m,
                                     const P&... p) {
  return add_change(T(scalar_t<T>(-1)), part_along_bonds(x, jacobi_vectors(v), m, p...), m, v);
}
template <class T, class M>
TARN_HD Triple<T> project_velocities(const Triple<T>& x, const Triple<T>& v, const M& m) {
  return project_velocities(jacobi_vectors(x), v, m);
}

}  // namespace tarn::inline TARN_ARCH
