#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// The exact Ornstein-Uhlenbeck flow over one step, v <- decay v + scale kick xi: equation (21).
/// @param v velocities [A/akma]
/// @param xi nine independent standard normal numbers
/// @param kick_scale 1, or sqrt(T/T0) for a temperature T other than the T0 of p
template <class T, class S>
TARN_HD Triple<T> ou_step(const Triple<T>& v, const Triple<T>& xi, const OuParameters<S>& p,
                          const T& kick_scale = T(S(1))) {
  const T ko = T(p.kick_o) * kick_scale, kh = T(p.kick_h) * kick_scale;
  return {fma(T(p.decay_o), v.o, ko * xi.o), fma(T(p.decay_h), v.h1, kh * xi.h1),
          fma(T(p.decay_h), v.h2, kh * xi.h2)};
}

template <class T, class U>
TARN_HD Triple<T> ou_step(const Triple<T>& v, const Triple<T>& xi, const AtomOuParameters<U>& p,
                          const T& kick_scale = T(scalar_t<T>(1))) {
  return {fma(T(p.decay_o), v.o, (T(p.kick_o) * kick_scale) * xi.o),
          fma(T(p.decay_h1), v.h1, (T(p.kick_h1) * kick_scale) * xi.h1),
          fma(T(p.decay_h2), v.h2, (T(p.kick_h2) * kick_scale) * xi.h2)};
}
/// Whether velocities with a part along the bonds keep it as one: the decay is the same for all
/// atoms.
template <class S>
TARN_HD bool decays_alike(const OuParameters<S>& p) {
  return p.decay_o == p.decay_h;
}
template <class U>
TARN_HD bool decays_alike(const AtomOuParameters<U>&) {
  return false;
}

/// The heat that a molecule absorbs in this step, the gain in its kinetic energy, equation (32)
/// [kcal/mol].
/// @param before,after velocities; for rigid molecules projected onto the constraints
template <class T>
TARN_HD T ou_heat(const T& mass_o, const T& mass_h, const Triple<T>& before,
                  const Triple<T>& after) {
  return T(scalar_t<T>(0.5)) *
         (weighted_norm2(mass_o, mass_h, after) - weighted_norm2(mass_o, mass_h, before));
}
template <class T, class U>
TARN_HD T ou_heat(const AtomMasses<U>& m, const Triple<T>& before, const Triple<T>& after) {
  return T(scalar_t<T>(0.5)) * (weighted_norm2(m, after) - weighted_norm2(m, before));
}

}  // namespace TARN_ARCH
}  // namespace tarn
