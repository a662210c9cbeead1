#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn::inline TARN_ARCH {

/// Force on an oxygen at r [A] from the centre, without the recoil, equation (24) [kcal/mol/A].
template <class T, class S>
TARN_HD Vec3<T> wall_force(const Vec3<T>& r, const OutsideForces<S>& wall) {
  const T r2 = max(norm2(r), T(S(1e-12)));
  const T inverse = rsqrt(r2);
  const T beyond = max(fma(r2, inverse, -T(wall.radius)), T(S(0)));
  return (T(-wall.stiffness) * beyond * inverse) * r;
}

/// Energy of the wall, K/2 max(0, r - R)^2 [kcal/mol].
template <class T, class S>
TARN_HD T wall_energy(const Vec3<T>& r, const OutsideForces<S>& wall) {
  const T beyond = max(sqrt(norm2(r)) - T(wall.radius), T(S(0)));
  return T(S(0.5) * wall.stiffness) * beyond * beyond;
}

/// Force of the field on a hydrogen, equation (96).
template <class T, class S>
TARN_HD Vec3<T> field_force(const OutsideForces<S>& o) {
  return {T(o.field[0]), T(o.field[1]), T(o.field[2])};
}
template <class T, class S>
TARN_HD Triple<T> with_field(const Triple<T>& f, const OutsideForces<S>& o) {
  const Vec3<T> push = field_force<T>(o);
  return {fnma(T(S(2)), push, f.o), f.h1 + push, f.h2 + push};
}
/// Energy of a molecule's dipole moment in the field [kcal/mol].
template <class T, class S>
TARN_HD T field_energy(const Triple<T>& x, const OutsideForces<S>& o) {
  return -dot(field_force<T>(o), (x.h1 - x.o) + (x.h2 - x.o));
}

/// Sum of mass times position of a molecule [Da A].
template <class T, class S>
TARN_HD Vec3<T> mass_moment(const Triple<T>& x, const Masses<S>& m) {
  return fma(T(m.o), x.o, T(m.h) * (x.h1 + x.h2));
}

}  // namespace tarn::inline TARN_ARCH
