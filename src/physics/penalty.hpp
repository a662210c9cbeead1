#pragma once

#include "tarn/physics/triple.hpp"

/// @file
/// The three bonds of a molecule, c = (O,H1), (O,H2), (H1,H2): g_c = |d_c|^2 - r0_c^2, and the
/// penalty V1 = omega^2/2 sum g_c^2: TO (4.3), (4.4), equations (6) to (8).

namespace tarn::inline TARN_ARCH {

/// One number per bond: g, multipliers or right-hand sides.
template <class T>
struct BondValues {
  T oh1, oh2, hh;
};

/// Bond vectors (end minus start) and their squared lengths.
template <class T>
struct Bonds {
  Vec3<T> d1, d2, d3;
  BondValues<T> length2;
};

template <class T>
TARN_HD Bonds<T> bonds(const Triple<T>& x) {
  Bonds<T> b;
  b.d1 = x.h1 - x.o;
  b.d2 = x.h2 - x.o;
  b.d3 = x.h2 - x.h1;
  b.length2 = {norm2(b.d1), norm2(b.d2), norm2(b.d3)};
  return b;
}

/// g_c [A^2].
template <class T, class S>
TARN_HD BondValues<T> constraint_values(const Bonds<T>& b, const BondReference<S>& r) {
  return {b.length2.oh1 - T(r.oh2), b.length2.oh2 - T(r.oh2), b.length2.hh - T(r.hh2)};
}

/// J u: derivative of g along u, 2 d_c . (u_end - u_start).
template <class T>
TARN_HD BondValues<T> apply_jacobian(const Bonds<T>& b, const Triple<T>& u) {
  const auto twice = [](const T& t) { return t + t; };
  return {twice(dot(b.d1, u.h1 - u.o)), twice(dot(b.d2, u.h2 - u.o)),
          twice(dot(b.d3, u.h2 - u.h1))};
}

/// J^T y: sum y_c grad g_c, +2 d_c at the end of a bond and -2 d_c at its start.
template <class T>
TARN_HD Triple<T> apply_jacobian_transposed(const Bonds<T>& b, const BondValues<T>& y) {
  const Vec3<T> a1 = (y.oh1 + y.oh1) * b.d1;
  const Vec3<T> a2 = (y.oh2 + y.oh2) * b.d2;
  const Vec3<T> a3 = (y.hh + y.hh) * b.d3;
  return {-(a1 + a2), a1 - a3, a2 + a3};
}

/// V1 [kcal/mol], and below its force -omega^2 J^T g [kcal/mol/A].
template <class T, class S>
TARN_HD T penalty_energy(const Triple<T>& x, const BondReference<S>& r, const S& omega) {
  const BondValues<T> g = constraint_values(bonds(x), r);
  return T(S(0.5) * omega * omega) * fma(g.oh1, g.oh1, fma(g.oh2, g.oh2, g.hh * g.hh));
}
template <class T, class S>
TARN_HD Triple<T> penalty_force(const Triple<T>& x, const BondReference<S>& r, const S& omega) {
  const Bonds<T> b = bonds(x);
  const BondValues<T> g = constraint_values(b, r);
  const T minus_omega2 = T(-(omega * omega));
  return apply_jacobian_transposed(
      b, BondValues<T>{minus_omega2 * g.oh1, minus_omega2 * g.oh2, minus_omega2 * g.hh});
}

}  // namespace tarn::inline TARN_ARCH
