#pragma once

#include "tarn/physics/penalty.hpp"

/// @file
/// The linear solves of one molecule, in the three unknowns of its bonds.

namespace tarn {
inline namespace TARN_ARCH {

/// S y = r with S = shift I + J M^-1 J^T, symmetric positive definite for shift >= 0.
///
/// S_ce = 4 (d_c . d_e) kappa_ce, kappa from the inverse masses of shared atoms; the dot products
/// follow from the three squared lengths. Solved by cofactors, with one division.
template <class T, class S>
TARN_HD BondValues<T> solve_bonds(const Bonds<T>& b, const Masses<S>& m, const T& shift,
                                  const BondValues<T>& r) {
  const T l1 = b.length2.oh1, l2 = b.length2.oh2, l3 = b.length2.hh;
  const T w_o = T(S(4) * m.inverse_o), w_h = T(S(4) * m.inverse_h);
  const T d12 = T(S(0.5)) * (l1 + l2 - l3);  // d1 . d2
  // d3 = d2 - d1; bonds 1 and 3 share H1 with opposite signs of the gradient.
  const T s11 = fma(w_o + w_h, l1, shift);
  const T s22 = fma(w_o + w_h, l2, shift);
  const T s33 = fma(w_h + w_h, l3, shift);
  const T s12 = w_o * d12;
  const T s13 = w_h * (l1 - d12);
  const T s23 = w_h * (l2 - d12);

  const T c11 = fnma(s23, s23, s22 * s33);
  const T c12 = fnma(s12, s33, s13 * s23);
  const T c13 = fnma(s13, s22, s12 * s23);
  const T c22 = fnma(s13, s13, s11 * s33);
  const T c23 = fnma(s11, s23, s12 * s13);
  const T c33 = fnma(s12, s12, s11 * s22);
  const T inverse = T(S(1)) / fma(s11, c11, fma(s12, c12, s13 * c13));
  return {inverse * fma(c11, r.oh1, fma(c12, r.oh2, c13 * r.hh)),
          inverse * fma(c12, r.oh1, fma(c22, r.oh2, c23 * r.hh)),
          inverse * fma(c13, r.oh1, fma(c23, r.oh2, c33 * r.hh))};
}

/// The Gauss-Newton acceleration: (M + b h^2 omega^2 J^T J) a = F0 - omega^2 J^T g without ever
/// forming omega^2 g:  (I/(b h^2 omega^2) + J M^-1 J^T) y = J M^-1 F0 + g/(b h^2),
/// a = M^-1 (F0 - J^T y).
///
/// @param f0 non-bonded force -grad V0 [kcal/mol/A]
/// @return acceleration [A/akma^2]
template <class T, class S>
TARN_HD Triple<T> zss_acceleration(const Triple<T>& x, const Triple<T>& f0,
                                   const BondReference<S>& reference, const Masses<S>& m,
                                   const ZssParameters<S>& p) {
  const T w_o = T(m.inverse_o), w_h = T(m.inverse_h);
  const Bonds<T> b = bonds(x);
  const BondValues<T> g = constraint_values(b, reference);
  const BondValues<T> ju = apply_jacobian(b, scale(w_o, w_h, f0));
  const T k = T(p.inverse_bh2);
  const BondValues<T> y =
      solve_bonds(b, m, T(p.inverse_bh2w2),
                  BondValues<T>{fma(k, g.oh1, ju.oh1), fma(k, g.oh2, ju.oh2), fma(k, g.hh, ju.hh)});
  return scale(w_o, w_h, f0 - apply_jacobian_transposed(b, y));
}

/// The multipliers lambda = -y of the acceleration a at x, M a = F0 + J^T lambda, from
/// y = omega^2 (g + b h^2 J a); for finite omega.
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

/// Velocities with J v = 0: v - M^-1 J^T (J M^-1 J^T)^-1 J v.
template <class T, class S>
TARN_HD Triple<T> project_velocities(const Triple<T>& x, const Triple<T>& v, const Masses<S>& m) {
  const Bonds<T> b = bonds(x);
  const BondValues<T> y = solve_bonds(b, m, T(S(0)), apply_jacobian(b, v));
  return v - scale(T(m.inverse_o), T(m.inverse_h), apply_jacobian_transposed(b, y));
}

}  // namespace TARN_ARCH
}  // namespace tarn
