#pragma once

#include "tarn/physics/penalty.hpp"

/// @file
/// SHAKE: the position x = x_free + M^-1 J(x_old)^T mu at which the three bond lengths hold, by
/// iteration. Both iterations stop when no bond vector moves any more by more than a tolerance
/// relative to its length, and both keep a lane still once it has converged, so that a molecule's
/// result does not depend on the other lanes.

namespace tarn {
inline namespace TARN_ARCH {

inline constexpr int kShakeMaxIterations = 500;

template <class T>
struct ShakeResult {
  Triple<T> x;
  mask_t<T> converged;
  T iterations;  ///< that each lane needed
};

/// False where an iteration broke down.
template <class T>
TARN_HD mask_t<T> is_number(const Triple<T>& x) {
  const T all = x.o.x + x.h1.x + x.h2.x;
  return all == all;
}

/// Newton's iteration on the three multipliers of a molecule together (M-SHAKE, Kraeutler, van
/// Gunsteren & Huenenberger 2001): converges quadratically.
template <class T, class S>
TARN_HD ShakeResult<T> shake_newton(const Triple<T>& x_old, const Triple<T>& x_free,
                                    const BondReference<S>& reference, const Masses<S>& m,
                                    const S& tolerance) {
  const Bonds<T> b = bonds(x_old);
  const T w_o = T(m.inverse_o), w_h = T(m.inverse_h), w = w_o + w_h;
  const T small2 = T(tolerance * tolerance);
  ShakeResult<T> r;
  r.x = x_free;
  r.iterations = T(S(0));
  mask_t<T> active = T(S(0)) < T(S(1));
  for (int iteration = 0; iteration < kShakeMaxIterations; ++iteration) {
    const Vec3<T> s1 = r.x.h1 - r.x.o, s2 = r.x.h2 - r.x.o, s3 = r.x.h2 - r.x.h1;
    // A_ce = d|s_c|^2/d(mu_e) / 2, from the products of new and old bond vectors.
    const T p11 = dot(s1, b.d1), p12 = dot(s1, b.d2), p21 = dot(s2, b.d1), p22 = dot(s2, b.d2);
    const Vec3<T> a1{w * p11, w_o * p21, w_h * (p11 - p21)};  // column of bond 1
    const Vec3<T> a2{w_o * p12, w * p22, w_h * (p22 - p12)};  // column of bond 2
    const Vec3<T> a3{w_h * (p11 - p12), w_h * (p22 - p21),    // column of bond 3
                     (w_h + w_h) * ((p22 - p21) - (p12 - p11))};
    const T half = T(S(0.5));
    const Vec3<T> rest{half * (T(reference.oh2) - norm2(s1)), half * (T(reference.oh2) - norm2(s2)),
                       half * (T(reference.hh2) - norm2(s3))};
    const Vec3<T> c23 = cross(a2, a3), c31 = cross(a3, a1), c12 = cross(a1, a2);
    T inverse = T(S(1)) / dot(a1, c23);
    inverse = select(active, inverse, T(S(0)));
    const Vec3<T> u1 = (inverse * dot(rest, c23)) * b.d1;
    const Vec3<T> u2 = (inverse * dot(rest, c31)) * b.d2;
    const Vec3<T> u3 = (inverse * dot(rest, c12)) * b.d3;
    const Vec3<T> move_o = -(w_o * (u1 + u2));
    const Vec3<T> move_1 = w_h * (u1 - u3);
    const Vec3<T> move_2 = w_h * (u2 + u3);
    r.x = {r.x.o + move_o, r.x.h1 + move_1, r.x.h2 + move_2};
    r.iterations = r.iterations + select(active, T(S(1)), T(S(0)));
    const T still = max(max(norm2(move_1 - move_o) - small2 * T(reference.oh2),
                            norm2(move_2 - move_o) - small2 * T(reference.oh2)),
                        norm2(move_2 - move_1) - small2 * T(reference.hh2));
    active = active & (still > T(S(0)));  // a lane that broke down stops here too
    if (!any(active)) break;
  }
  r.converged = (!active) & is_number(r.x);
  return r;
}

/// The classical sweep (Ryckaert, Ciccotti & Berendsen 1977): one bond after the other, until a
/// sweep moves none.
template <class T, class S>
TARN_HD ShakeResult<T> shake_sweeps(const Triple<T>& x_old, const Triple<T>& x_free,
                                    const BondReference<S>& reference, const Masses<S>& m,
                                    const S& tolerance) {
  const Bonds<T> b = bonds(x_old);
  const T w_o = T(m.inverse_o), w_h = T(m.inverse_h);
  ShakeResult<T> r;
  r.x = x_free;
  r.iterations = T(S(0));
  // One bond: s += (w_a + w_b) u d with u = (r0^2 - s.s) / (2 (w_a + w_b) s.d).
  const auto correct = [](const T& w_a, const T& w_b, const T& r02, const Vec3<T>& d,
                          const mask_t<T>& active, Vec3<T>& a, Vec3<T>& e, T& move) {
    const Vec3<T> s = e - a;
    const T w = w_a + w_b;
    T u = (r02 - norm2(s)) / ((w + w) * dot(s, d));
    u = select(active, u, T(S(0)));
    move = max(move, abs(w * u));
    a = fma(-(w_a * u), d, a);
    e = fma(w_b * u, d, e);
  };
  mask_t<T> active = T(S(0)) < T(S(1));
  for (int sweep = 0; sweep < kShakeMaxIterations; ++sweep) {
    T move = T(S(0));
    correct(w_o, w_h, T(reference.oh2), b.d1, active, r.x.o, r.x.h1, move);
    correct(w_o, w_h, T(reference.oh2), b.d2, active, r.x.o, r.x.h2, move);
    correct(w_h, w_h, T(reference.hh2), b.d3, active, r.x.h1, r.x.h2, move);
    r.iterations = r.iterations + select(active, T(S(1)), T(S(0)));
    active = active & !(move < T(tolerance));
    if (!any(active)) break;
  }
  r.converged = (!active) & is_number(r.x);
  return r;
}

}  // namespace TARN_ARCH
}  // namespace tarn
