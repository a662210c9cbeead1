#pragma once

#include "molecule_solve.hpp"

/// @file
/// Fast and slow parts of the motion of one molecule's bonds under the penalty, equation (48).

namespace tarn::inline TARN_ARCH {

/// Moves a molecule along the mass-weighted gradients of its bonds to given values of g (to first
/// order in their change) and of its rate J v (exactly). Momentum and centre of mass do not change.
template <class T, class S, class M>
TARN_HD void move_bonds(const BondValues<T>& g, const BondValues<T>& rates,
                        const BondReference<S>& reference, const M& m, Triple<T>& x, Triple<T>& v) {
  const auto along = [&](const Bonds<T>& b, const BondValues<T>& to, const BondValues<T>& from) {
    const BondValues<T> y = solve_bonds(
        b, m, T(S(0)), BondValues<T>{to.oh1 - from.oh1, to.oh2 - from.oh2, to.hh - from.hh});
    return over_masses(m, apply_jacobian_transposed(b, y));
  };
  const Bonds<T> before = bonds(x);
  x = x + along(before, g, constraint_values(before, reference));
  const Bonds<T> after = bonds(x);
  v = v + along(after, rates, apply_jacobian(after, v));
}

/// Energy of the fast motion of the bonds about the values g_s = -lambda/omega^2, at which the
/// penalty has the forces of rigid bonds [kcal/mol]:
///   omega^2/2 |g - g_s|^2 + 1/2 (J v)^T (J M^-1 J^T)^-1 J v.
/// On the slow manifold J v and the root of this energy are of order 1/omega^2.
/// @param f force without the bonds [kcal/mol/A]
/// @return [kcal/mol]
template <class T, class S, class M>
TARN_HD T fast_bond_energy(const Triple<T>& x, const Triple<T>& v, const Triple<T>& f,
                           const BondReference<S>& reference, const M& m, const S& omega) {
  const auto dot3 = [](const BondValues<T>& a, const BondValues<T>& b) {
    return fma(a.oh1, b.oh1, fma(a.oh2, b.oh2, a.hh * b.hh));
  };
  const Bonds<T> b = bonds(x);
  const BondValues<T> g = constraint_values(b, reference);
  const BondValues<T> lambda = rigid_multipliers(x, project_velocities(x, v, m), f, m);
  const T inverse_omega2 = T(S(1) / (omega * omega));
  const BondValues<T> away{fma(inverse_omega2, lambda.oh1, g.oh1),
                           fma(inverse_omega2, lambda.oh2, g.oh2),
                           fma(inverse_omega2, lambda.hh, g.hh)};
  const BondValues<T> rates = apply_jacobian(b, v);
  return T(S(0.5)) *
         fma(T(omega * omega), dot3(away, away), dot3(rates, solve_bonds(b, m, T(S(0)), rates)));
}

}  // namespace tarn::inline TARN_ARCH
