#pragma once

#include "core/elementary.hpp"
#include "molecule_solve.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// The intramolecular potential of flexible water models: two O-H stretches and the bend,
/// equations (74) to (78), in the internal coordinates c = (r1, r2, theta).

namespace tarn::inline TARN_ARCH {

/// The internal coordinates of a molecule, and what their derivatives need.
template <class T>
struct InternalCoordinates {
  Vec3<T> e1, e2;                ///< unit vectors from O to H1 and H2
  T r1, r2;                      ///< O-H distances [A]
  T inverse1, inverse2;          ///< 1/r1, 1/r2 [1/A]
  T cosine, sine, inverse_sine;  ///< of the H-O-H angle theta
};

/// One number per internal coordinate: a value, a derivative or a right-hand side.
template <class T>
struct InternalValues {
  T r1, r2, angle;
};

/// Squares of the sine are at least this, so that a straight molecule has finite forces.
inline constexpr double kLeastSine2 = 1e-12;

template <class T>
TARN_HD InternalCoordinates<T> internal_coordinates(const Triple<T>& x) {
  using S = scalar_t<T>;
  const Vec3<T> d1 = x.h1 - x.o, d2 = x.h2 - x.o;
  const T l1 = norm2(d1), l2 = norm2(d2);
  InternalCoordinates<T> c;
  c.inverse1 = rsqrt(l1);
  c.inverse2 = rsqrt(l2);
  c.r1 = l1 * c.inverse1;
  c.r2 = l2 * c.inverse2;
  c.e1 = c.inverse1 * d1;
  c.e2 = c.inverse2 * d2;
  c.cosine = dot(c.e1, c.e2);
  const T sine2 = max(T(static_cast<S>(kLeastSine2)), fnma(c.cosine, c.cosine, T(S(1))));
  c.inverse_sine = rsqrt(sine2);
  c.sine = sine2 * c.inverse_sine;
  return c;
}

/// Gradients of theta with respect to H1 and H2 [1/A]; that of O is minus their sum.
template <class T>
struct AngleGradient {
  Vec3<T> h1, h2;
};
template <class T>
TARN_HD AngleGradient<T> angle_gradient(const InternalCoordinates<T>& c) {
  const T s1 = c.inverse1 * c.inverse_sine, s2 = c.inverse2 * c.inverse_sine;
  return {s1 * fma(c.cosine, c.e1, -c.e2), s2 * fma(c.cosine, c.e2, -c.e1)};
}

/// J u: derivative of the internal coordinates along u.
template <class T>
TARN_HD InternalValues<T> apply_jacobian(const InternalCoordinates<T>& c,
                                         const AngleGradient<T>& angle, const Triple<T>& u) {
  const Vec3<T> u1 = u.h1 - u.o, u2 = u.h2 - u.o;
  return {dot(c.e1, u1), dot(c.e2, u2), dot(angle.h1, u1) + dot(angle.h2, u2)};
}
/// J^T y: sum of y_c grad c.
template <class T>
TARN_HD Triple<T> apply_jacobian_transposed(const InternalCoordinates<T>& c,
                                            const AngleGradient<T>& angle,
                                            const InternalValues<T>& y) {
  const Vec3<T> h1 = fma(y.r1, c.e1, y.angle * angle.h1);
  const Vec3<T> h2 = fma(y.r2, c.e2, y.angle * angle.h2);
  return {-(h1 + h2), h1, h2};
}

/// Energy of a stretch or bend with its first and second derivative.
template <class T>
struct InternalTerm {
  T value, first, second;
};

/// An O-H bond, equation (74): s^2 (k2 + k3 s + k4 s^2), or Morse D (1 - exp(-alpha s))^2, with
/// s = r - r_eq [kcal/mol]. Morse continues linearly where -alpha s exceeds kExpm1Limit.
template <class T, class S>
TARN_HD InternalTerm<T> stretch_potential(const T& r, const FlexibleParameters<S>& p) {
  const T s = r - T(p.r_eq), one = T(S(1)), two = T(S(2));
  if (p.is_morse) {
    const T x = T(-p.alpha) * s, q = expm1_below_limit(x), e = one + q, qe = q * e;
    const T d = T(p.depth), slope = T(S(-2) * p.depth * p.alpha), zero = T(S(0));
    const T excess = max(zero, x - T(static_cast<S>(kExpm1Limit)));
    const T curvature = T(S(2) * p.depth * p.alpha * p.alpha) * (e * (e + q));
    return {fma((d + d) * qe, excess, d * (q * q)), slope * qe,
            select(zero < excess, zero, curvature)};
  }
  const T k2 = T(p.k2), k3 = T(p.k3), k4 = T(p.k4);
  return {(s * s) * fma(s, fma(s, k4, k3), k2),
          s * fma(s, fma(s, T(S(4)) * k4, T(S(3)) * k3), two * k2),
          fma(s, fma(s, T(S(12)) * k4, T(S(6)) * k3), two * k2)};
}
/// The bend, 1/2 k (theta - theta_eq)^2, equation (75) [kcal/mol, kcal/mol/rad, kcal/mol/rad^2].
template <class T, class S>
TARN_HD InternalTerm<T> bend_potential(const InternalCoordinates<T>& c,
                                       const FlexibleParameters<S>& p) {
  // theta - pi/2 has the sine -cos theta.
  const T change = angle_of(-c.cosine, c.sine) - T(p.angle_eq);
  const T k = T(p.bend);
  return {T(S(0.5)) * k * (change * change), k * change, k};
}

/// The potentials of the three internal coordinates.
template <class T>
struct InternalPotentials {
  InternalTerm<T> r1, r2, angle;
  TARN_HD InternalValues<T> first() const { return {r1.first, r2.first, angle.first}; }
};
template <class T, class S>
TARN_HD InternalPotentials<T> internal_potentials(const InternalCoordinates<T>& c,
                                                  const FlexibleParameters<S>& p) {
  return {stretch_potential(c.r1, p), stretch_potential(c.r2, p), bend_potential(c, p)};
}

/// Energy of a molecule [kcal/mol], and below its force -J^T V' [kcal/mol/A].
template <class T, class S>
TARN_HD T intramolecular_energy(const Triple<T>& x, const FlexibleParameters<S>& p) {
  const InternalPotentials<T> v = internal_potentials(internal_coordinates(x), p);
  return (v.r1.value + v.r2.value) + v.angle.value;
}
template <class T, class S>
TARN_HD Triple<T> intramolecular_force(const Triple<T>& x, const FlexibleParameters<S>& p) {
  const InternalCoordinates<T> c = internal_coordinates(x);
  const InternalValues<T> y = internal_potentials(c, p).first();
  return apply_jacobian_transposed(c, angle_gradient(c), InternalValues<T>{-y.r1, -y.r2, -y.angle});
}

/// G = J M^-1 J^T, the matrix of Wilson, equation (77).
template <class T, class M>
TARN_HD SymmetricMatrix3<T> wilson_matrix(const InternalCoordinates<T>& c, const M& m) {
  const T w_o = T(m.inverse_o);
  const T minus_sine = -(w_o * c.sine);
  const T square1 = c.inverse1 * c.inverse1, square2 = c.inverse2 * c.inverse2;
  const T both = c.inverse1 * c.inverse2;
  const T of_o = fnma(c.cosine + c.cosine, both, square1 + square2);
  T bend = T(m.inverse_h1()) * (square1 + square2);
  if constexpr (!requires { m.fraction_h; }) {
    bend = fma(T(m.inverse_h1()), square1, T(m.inverse_h2()) * square2);
  }
  return {T(m.inverse_o + m.inverse_h1()), w_o * c.cosine,          minus_sine * c.inverse2,
          T(m.inverse_o + m.inverse_h2()), minus_sine * c.inverse1, fma(w_o, of_o, bend)};
}

/// The solution a of (M + b h^2 J^T K J) a = F0 - J^T V', equation (78), with K = diag(V''):
///   (K^-1/(b h^2) + J M^-1 J^T) z = J M^-1 F0 + K^-1 V'/(b h^2),   a = M^-1 (F0 - J^T z).
/// The equations are scaled by K, which saves its inverse. Second derivatives of a Morse bond are
/// at least `least_curvature`, so that K is positive.
/// @param f0 force of the other molecules and the wall [kcal/mol/A]
/// @return accelerations [A/akma^2]
template <class T, class S, class M>
TARN_HD Triple<T> flexible_acceleration(const Triple<T>& x, const Triple<T>& f0,
                                        const FlexibleParameters<S>& p, const M& m,
                                        const S& inverse_bh2) {
  const T shift = T(inverse_bh2);
  const InternalCoordinates<T> c = internal_coordinates(x);
  const AngleGradient<T> angle = angle_gradient(c);
  const InternalPotentials<T> v = internal_potentials(c, p);
  const T least = T(p.least_curvature);
  const T k1 = max(least, v.r1.second), k2 = max(least, v.r2.second), k3 = v.angle.second;
  const SymmetricMatrix3<T> g = wilson_matrix(c, m);
  const SymmetricMatrix3<T> scaled{k1 * fma(k1, g.s11, shift), (k1 * k2) * g.s12,
                                   (k1 * k3) * g.s13,          k2 * fma(k2, g.s22, shift),
                                   (k2 * k3) * g.s23,          k3 * fma(k3, g.s33, shift)};
  const InternalValues<T> ju = apply_jacobian(c, angle, over_masses(m, f0));
  const BondValues<T> y = solve(
      scaled, BondValues<T>{fma(shift, v.r1.first, k1 * ju.r1), fma(shift, v.r2.first, k2 * ju.r2),
                            fma(shift, v.angle.first, k3 * ju.angle)});
  const InternalValues<T> z{k1 * y.oh1, k2 * y.oh2, k3 * y.hh};
  return over_masses(m, f0 - apply_jacobian_transposed(c, angle, z));
}

}  // namespace tarn::inline TARN_ARCH
