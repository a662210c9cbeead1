#pragma once

#include "molecule_state.hpp"
#include "physics/flexible.hpp"

/// @file
/// Steps with flexible molecules, equation (10). The schemes differ in the acceleration only.

namespace tarn {
inline namespace TARN_ARCH {

/// Velocity Verlet: all forces at x [A/akma^2].
/// @param f0 force of the other molecules and the wall at x
template <class M, class S, class Mass>
TARN_HD Triple<number_t<M>> flexible_verlet_acceleration(const M& s, const Triple<number_t<M>>& f0,
                                                         const FlexibleParameters<S>& p,
                                                         const Mass& m) {
  return over_masses(m, f0 + intramolecular_force(shape_of(s), p));
}

/// Z&Ss for stiff systems with the intramolecular potential as the stiff one, equation (78).
template <class M, class S, class Mass>
TARN_HD Triple<number_t<M>> flexible_zss_acceleration(const M& s, const Triple<number_t<M>>& f0,
                                                      const FlexibleParameters<S>& p, const Mass& m,
                                                      const ZssParameters<S>& zss) {
  return flexible_acceleration(shape_of(s), f0, p, m, zss.inverse_bh2);
}

}  // namespace TARN_ARCH
}  // namespace tarn
