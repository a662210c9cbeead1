#pragma once

#include "molecule_state.hpp"
#include "physics/molecule_solve.hpp"

/// @file
/// Steps with penalised bonds, equation (10): x+ = x + h v + h^2/2 a(x), v+ = v + h/2 (a(x) +
/// a(x+)). The schemes differ in the acceleration only.

namespace tarn::inline TARN_ARCH {

/// Z&Ss for stiff systems (TO 2.6) with the Gauss-Newton Hessian, equation (11): one linear solve.
/// @param f0 non-bonded force at the new x
template <class M, class S, class Mass>
TARN_HD void zss_end(M& s, const Triple<number_t<M>>& f0, const number_t<M>& h,
                     const BondReference<S>& reference, const Mass& m, const ZssParameters<S>& p) {
  s.a = zss_acceleration(shape_of(s), f0, reference, m, p);
  kick(s, h);
}

/// The first part of zss_end(), which does not depend on the velocities: y of equation (11).
template <class M, class S, class Mass>
TARN_HD BondValues<number_t<M>> zss_solve(const M& s, const Triple<number_t<M>>& f0,
                                          const BondReference<S>& reference, const Mass& m,
                                          const ZssParameters<S>& p) {
  const Bonds<number_t<M>> b = bonds(shape_of(s));
  return zss_bond_solution(b, f0, constraint_values(b, reference), m, p);
}
/// The second part of zss_end(), with y = zss_solve().
template <class M, class Mass>
TARN_HD void zss_end(M& s, const Triple<number_t<M>>& f0, const BondValues<number_t<M>>& y,
                     const number_t<M>& h, const Mass& m) {
  s.a = gauss_newton_acceleration(bonds(shape_of(s)), f0, y, m);
  kick(s, h);
}

/// The same with the full Hessian of the penalty, equation (13).
/// @return whether the matrix is positive definite; if not, the state is undefined
template <class M, class S, class Mass>
TARN_HD mask_t<number_t<M>> zss_full_end(M& s, const Triple<number_t<M>>& f0, const number_t<M>& h,
                                         const BondReference<S>& reference, const Mass& m,
                                         const ZssParameters<S>& p) {
  const FullAcceleration<number_t<M>> full =
      zss_full_acceleration(shape_of(s), f0, reference, m, p);
  s.a = full.a;
  kick(s, h);
  return full.definite;
}

/// Velocity Verlet on the penalised system: stable for h omega < 0.44 only, equation (9).
template <class M, class S, class Mass>
TARN_HD void verlet_end(M& s, const Triple<number_t<M>>& f0, const number_t<M>& h,
                        const BondReference<S>& reference, const Mass& m, const S& omega) {
  s.a = over_masses(m, f0 + penalty_force(shape_of(s), reference, omega));
  kick(s, h);
}

/// The reported position q = x + b h^2 a, equation (15) [A].
template <class T>
TARN_HD Triple<T> pushed_back(const MoleculeState<T>& s, const T& bh2) {
  return fma(bh2, s.a, s.x);
}

}  // namespace tarn::inline TARN_ARCH
