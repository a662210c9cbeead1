#pragma once

#include "tarn/physics/molecule_solve.hpp"
#include "tarn/steps/molecule_state.hpp"

/// @file
/// Z&Ss for stiff systems (TO 2.6): x+ = x + h v + h^2/2 a(x), v+ = v + h/2 (a(x) + a(x+)), with
/// the acceleration a of one linear solve a molecule and step.

namespace tarn {
inline namespace TARN_ARCH {

template <class T>
TARN_HD void zss_begin(MoleculeState<T>& s, const T& h) {
  kick_and_drift(s, h);
}

/// @param f0 non-bonded force at the new x
template <class T, class S>
TARN_HD void zss_end(MoleculeState<T>& s, const Triple<T>& f0, const T& h,
                     const BondReference<S>& reference, const Masses<S>& m,
                     const ZssParameters<S>& p) {
  s.a = zss_acceleration(s.x, f0, reference, m, p);
  s.v = fma(T(S(0.5)) * h, s.a, s.v);
}

/// The pushed-back position q = x + b h^2 a, which is what is reported.
template <class T>
TARN_HD Triple<T> pushed_back(const MoleculeState<T>& s, const T& bh2) {
  return fma(bh2, s.a, s.x);
}

}  // namespace TARN_ARCH
}  // namespace tarn
