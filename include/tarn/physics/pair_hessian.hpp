#pragma once

#include "tarn/physics/parameters.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// Second derivatives of the energies between two sites, d = site of i minus site of j. With
/// force s d on the site of i, the Hessian is t d d^T - s I for (i, i) and (j, j), and minus that
/// for (i, j): equation (27).

namespace tarn {
inline namespace TARN_ARCH {

/// t d d^T - s I.
template <class T>
struct SiteHessian {
  T s, t;
};

/// q_i q_j / r: s = qq / r^3, t = 3 qq / r^5.
template <class T>
TARN_HD SiteHessian<T> coulomb_hessian(const T& qq, const Vec3<T>& d) {
  const T y = rsqrt(norm2(d));
  const T y2 = y * y;
  const T s = (qq * y) * y2;
  return {s, T(scalar_t<T>(3)) * (s * y2)};
}

/// A / r^12 - C / r^6: s = (12 A r^-6 - 6 C) r^-8, t = (168 A r^-6 - 48 C) r^-10.
template <class T, class S>
TARN_HD SiteHessian<T> lj_hessian(const PairParameters<S>& p, const Vec3<T>& d) {
  const T y = rsqrt(norm2(d));
  const T y2 = y * y;
  const T y6 = y2 * y2 * y2;
  const T y8 = y6 * y2;
  return {y8 * fma(T(p.lj_12a), y6, -T(p.lj_6c)),
          (y8 * y2) * fma(T(S(14) * p.lj_12a), y6, -T(S(8) * p.lj_6c))};
}

/// The penalty of one bond, omega^2/2 g^2 with g = |d|^2 - r0^2: s = -2 omega^2 g, t = 4 omega^2,
/// equation (9). The Gauss-Newton Hessian has g = 0 here.
template <class T, class S>
TARN_HD SiteHessian<T> bond_hessian(const T& g, const S& omega) {
  return {T(S(-2) * omega * omega) * g, T(S(4) * omega * omega)};
}

}  // namespace TARN_ARCH
}  // namespace tarn
