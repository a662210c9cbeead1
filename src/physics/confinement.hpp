#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// Force on an oxygen at r [A] from the centre, without the recoil, equation (24) [kcal/mol/A].
template <class T, class S>
TARN_HD Vec3<T> wall_force(const Vec3<T>& r, const Confinement<S>& wall) {
  const T r2 = max(norm2(r), T(S(1e-12)));
  const T inverse = rsqrt(r2);
  const T beyond = max(fma(r2, inverse, -T(wall.radius)), T(S(0)));
  return (T(-wall.stiffness) * beyond * inverse) * r;
}

/// Energy of the wall, K/2 max(0, r - R)^2 [kcal/mol].
template <class T, class S>
TARN_HD T wall_energy(const Vec3<T>& r, const Confinement<S>& wall) {
  const T beyond = max(sqrt(norm2(r)) - T(wall.radius), T(S(0)));
  return T(S(0.5) * wall.stiffness) * beyond * beyond;
}

/// Mass of a molecule. @param m Masses or AtomMasses
template <class M>
TARN_HD auto molecule_mass(const M& m) {
  return m.o + (m.h1() + m.h2());
}
/// Sum of mass times position of a molecule [Da A].
template <class T, class M>
TARN_HD Vec3<T> mass_moment(const Triple<T>& x, const M& m) {
  return fma(T(m.o), x.o, hydrogen_sum<T>(m, x.h1, x.h2));
}

}  // namespace TARN_ARCH
}  // namespace tarn
