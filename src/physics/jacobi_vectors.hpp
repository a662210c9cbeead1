#pragma once

#include "tarn/physics/triple.hpp"

/// @file
/// Jacobi vectors of a molecule. The mass matrix is diagonal in them, and rigid bonds are
/// conditions on |s|^2, |d|^2 and s.d = 0: equation (16).

namespace tarn::inline TARN_ARCH {

/// s = (H1 - O) + (H2 - O) and d = H2 - H1 of positions, velocities or displacements. The inverse
/// mass of d is 2/m_H; that of s is w = 1 + 2 m_H/m_O times as large.
template <class T>
struct JacobiVectors {
  Vec3<T> s, d;
};

template <class T>
TARN_HD JacobiVectors<T> operator+(const JacobiVectors<T>& a, const JacobiVectors<T>& b) {
  return {a.s + b.s, a.d + b.d};
}
template <class T>
TARN_HD JacobiVectors<T> operator-(const JacobiVectors<T>& a, const JacobiVectors<T>& b) {
  return {a.s - b.s, a.d - b.d};
}

/// k a + b.
template <class T>
TARN_HD JacobiVectors<T> fma(const T& k, const JacobiVectors<T>& a, const JacobiVectors<T>& b) {
  return {fma(k, a.s, b.s), fma(k, a.d, b.d)};
}

template <class T>
TARN_HD JacobiVectors<T> jacobi_vectors(const Triple<T>& x) {
  return {(x.h1 - x.o) + (x.h2 - x.o), x.h2 - x.h1};
}

/// Adds to x k times the displacement of the atoms that changes s and d by `change` and does not
/// move the centre of mass.
template <class T, class S>
TARN_HD Triple<T> add_change(const T& k, const JacobiVectors<T>& change, const Masses<S>& m,
                             const Triple<T>& x) {
  const T of_o = T(-m.fraction_h) * k, of_h = T(S(0.5) - m.fraction_h) * k, half = T(S(0.5)) * k;
  const Vec3<T> middle_1 = fma(of_h, change.s, x.h1), middle_2 = fma(of_h, change.s, x.h2);
  return {fma(of_o, change.s, x.o), fma(-half, change.d, middle_1), fma(half, change.d, middle_2)};
}

template <class T, class U>
TARN_HD Triple<T> add_change(const T& k, const JacobiVectors<T>& change, const AtomMasses<U>& m,
                             const Triple<T>& x) {
  const T half = T(scalar_t<T>(0.5)) * k, share_1 = T(m.first * m.inverse_all),
          share_2 = T(m.second * m.inverse_all);
  const Vec3<T> to_h1 = half * (change.s - change.d), to_h2 = half * (change.s + change.d);
  const Vec3<T> of_o = fma(share_1, to_h1, share_2 * to_h2);
  return {x.o - of_o, x.h1 + (to_h1 - of_o), x.h2 + (to_h2 - of_o)};
}

/// Adds to f k times the forces that accelerate s and d by `a`. Their sum is exactly zero.
template <class T, class S>
TARN_HD Triple<T> add_forces(const T& k, const JacobiVectors<T>& a, const Masses<S>& m,
                             const Triple<T>& f) {
  const T half_s = T(S(0.5) * m.o * m.fraction_h) * k, half_d = T(S(0.5) * m.h) * k;
  const Vec3<T> on_h = half_s * a.s, apart = half_d * a.d;
  return {f.o - (on_h + on_h), f.h1 + (on_h - apart), f.h2 + (on_h + apart)};
}

/// First-order changes of the three products that rigid bonds conserve: half the changes of |s|^2
/// and |d|^2, and the change of s.d.
template <class T>
struct JacobiProducts {
  T ss, dd, sd;
};
template <class T>
TARN_HD JacobiProducts<T> products_of_change(const JacobiVectors<T>& x,
                                             const JacobiVectors<T>& change) {
  return {dot(x.s, change.s), dot(x.d, change.d), dot(x.s, change.d) + dot(x.d, change.s)};
}

/// Change of s and d by forces along the bonds of `old`, (y_ss s + w y_sd d, y_dd d + y_sd s).
/// @param w inverse mass of s over that of d
template <class T>
TARN_HD JacobiVectors<T> change_along_bonds(const JacobiVectors<T>& old, const JacobiProducts<T>& y,
                                            const T& w) {
  const T wy = w * y.sd;
  return {fma(y.ss, old.s, wy * old.d), fma(y.dd, old.d, y.sd * old.s)};
}

/// Inverse masses of s and d; those of equal hydrogens are (w, 0, 1) times 2/m_H.
template <class T>
struct JacobiInverseMasses {
  T ss, sd, dd;
};
template <class T, class S>
TARN_HD T inverse_masses(const Masses<S>& m) {
  return T(m.w);
}
template <class T, class U>
TARN_HD JacobiInverseMasses<T> inverse_masses(const AtomMasses<U>& m) {
  const T h1(m.inverse_first), h2(m.inverse_second);
  return {fma(T(scalar_t<T>(4)), T(m.inverse_o), h1 + h2), h2 - h1, h1 + h2};
}
template <class T>
TARN_HD JacobiVectors<T> change_along_bonds(const JacobiVectors<T>& old, const JacobiProducts<T>& y,
                                            const JacobiInverseMasses<T>& w) {
  const Vec3<T> on_s = fma(y.ss, old.s, y.sd * old.d), on_d = fma(y.dd, old.d, y.sd * old.s);
  return {fma(w.ss, on_s, w.sd * on_d), fma(w.sd, on_s, w.dd * on_d)};
}

/// The y for which products_of_change(x, change_along_bonds(old, y, w)) are r, by cofactors, with
/// one division, equation (18). With p = x.s.old.s, q = x.s.old.d, u = x.d.old.s, t = x.d.old.d the
/// matrix is (p 0 wq; 0 t u; u q p + wt), of determinant (pt - qu)(p + wt).
/// @return y in active lanes, 0 in the others
template <class T>
TARN_HD JacobiProducts<T> solve_along_bonds(const JacobiVectors<T>& x, const JacobiVectors<T>& old,
                                            const T& w, const JacobiProducts<T>& r,
                                            const mask_t<T>& active) {
  const T p = dot(x.s, old.s), q = dot(x.s, old.d), u = dot(x.d, old.s), t = dot(x.d, old.d);
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const T qu = q * u, turn = fma(w, t, p);
  const T inverse = select(active, one / (fma(p, t, -qu) * turn), zero);
  const T wq = w * q;
  const T a = fma(t, r.sd, -(q * r.dd)), b = fma(p, r.sd, -(u * r.ss));
  return {inverse * fma(r.ss, fma(t, turn, -qu), -(wq * a)),
          inverse * fma(r.dd, fma(p, turn, -(wq * u)), -(u * b)),
          inverse * fma(p, a, -(u * t * r.ss))};
}
template <class T>
TARN_HD JacobiProducts<T> solve_along_bonds(const JacobiVectors<T>& x, const JacobiVectors<T>& old,
                                            const JacobiInverseMasses<T>& w,
                                            const JacobiProducts<T>& r, const mask_t<T>& active) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const auto column = [&](const JacobiProducts<T>& y) -> Vec3<T> {
    const JacobiProducts<T> p = products_of_change(x, change_along_bonds(old, y, w));
    return {p.ss, p.dd, p.sd};
  };
  const Vec3<T> a = column({one, zero, zero}), b = column({zero, one, zero}),
                c = column({zero, zero, one}), right{r.ss, r.dd, r.sd};
  const Vec3<T> bc = cross(b, c);
  const T inverse = select(active, one / dot(a, bc), zero);
  return {inverse * dot(right, bc), inverse * dot(right, cross(c, a)),
          inverse * dot(right, cross(a, b))};
}

}  // namespace tarn::inline TARN_ARCH
