#pragma once

#include <type_traits>

#include "jacobi_vectors.hpp"

/// @file
/// SHAKE: iterations for the position x = x_free + M^-1 J(x_old)^T mu at which the three bond
/// lengths hold, equation (16). They stop when no bond vector moves by more than a tolerance
/// relative to its length. A converged lane is not changed any more, so that the result of a
/// molecule does not depend on the other lanes.

namespace tarn::inline TARN_ARCH {

inline constexpr int kShakeMaxIterations = 500;

template <class T>
struct ShakeResult {
  JacobiVectors<T> change;  ///< from the free position to the constraints
  mask_t<T> converged;
  T iterations;  ///< in each lane
};

/// False if an iteration produced NaN.
template <class T>
TARN_HD mask_t<T> is_number(const JacobiVectors<T>& x) {
  const T all = x.s.x + x.d.x;
  return all == all;
}

/// Newton's iteration for the three multipliers of a molecule together (M-SHAKE, Kraeutler, van
/// Gunsteren & Huenenberger 2001), equation (18). It converges quadratically.
template <class T, class S, class M>
TARN_HD ShakeResult<T> shake_newton(const JacobiVectors<T>& old, const JacobiVectors<T>& free,
                                    const BondReference<S>& reference, const M& m,
                                    const S& tolerance) {
  const auto w = inverse_masses<T>(m);
  const T zero = T(S(0)), half = T(S(0.5));
  const T s2 = T(S(4) * reference.oh2 - reference.hh2), d2 = T(reference.hh2);
  const T small_oh2 = T(S(4) * tolerance * tolerance * reference.oh2);
  const T small_hh2 = T(tolerance * tolerance * reference.hh2);
  ShakeResult<T> r;
  JacobiVectors<T> x = free;
  r.iterations = zero;
  mask_t<T> active = zero < T(S(1));
  for (int iteration = 0; iteration < kShakeMaxIterations; ++iteration) {
    const JacobiProducts<T> rest{half * (s2 - norm2(x.s)), half * (d2 - norm2(x.d)),
                                 -dot(x.s, x.d)};
    const JacobiVectors<T> move =
        change_along_bonds(old, solve_along_bonds(x, old, w, rest, active), w);
    x = x + move;
    r.iterations = r.iterations + select(active, T(S(1)), zero);
    // The bonds to the oxygen move by half of s - d and s + d.
    const T moved_s = norm2(move.s), moved_d = norm2(move.d), both = abs(dot(move.s, move.d));
    const T still = max((moved_s + moved_d) + (both + both) - small_oh2, moved_d - small_hh2);
    active = active & (still > zero);  // a lane with NaN stops here too
    if (!any(active)) break;
  }
  r.change = x - free;
  r.converged = (!active) & is_number(x);
  return r;
}

/// The classical iteration (Ryckaert, Ciccotti & Berendsen 1977), equation (17): sweeps over the
/// bonds, one after another.
template <class T, class S, class M>
TARN_HD ShakeResult<T> shake_sweeps(const JacobiVectors<T>& old, const JacobiVectors<T>& free,
                                    const BondReference<S>& reference, const M& m,
                                    const S& tolerance) {
  const T zero = T(S(0));
  // The bonds to the oxygen are half of s - d and s + d.
  const Vec3<T> old_1 = old.s - old.d, old_2 = old.s + old.d;
  const T r_oh2 = T(S(4) * reference.oh2), r_hh2 = T(reference.hh2);
  const auto w_o = m.inverse_o, w_1 = m.inverse_h1(), w_2 = m.inverse_h2();
  const T w_oh1 = T(S(2) * (w_o + w_1)), w_oh2 = T(S(2) * (w_o + w_2)),
          w_hh = T(S(2) * (w_1 + w_2));
  const T s_of_oh1 = T(S(0.5) * w_1 + w_o), d_of_oh1 = T(S(0.5) * w_1);
  const T s_of_oh2 = T(S(0.5) * w_2 + w_o), d_of_oh2 = T(S(0.5) * w_2), d_of_hh = T(w_1 + w_2);
  ShakeResult<T> r;
  JacobiVectors<T> x = free;
  r.iterations = zero;
  mask_t<T> active = zero < T(S(1));
  for (int sweep = 0; sweep < kShakeMaxIterations; ++sweep) {
    T move = zero;
    // One bond b of inverse masses w_a + w_b = w2/2, along d: u = (r0^2 - b.b) / (w2 b.d).
    const auto multiplier = [&](const T& r02, const T& w2, const Vec3<T>& b, const Vec3<T>& d) {
      const T u = select(active, (r02 - norm2(b)) / (w2 * dot(b, d)), zero);
      move = max(move, abs(T(S(0.5)) * w2 * u));
      return u;
    };
    const T u1 = multiplier(r_oh2, w_oh1, x.s - x.d, old_1);
    x = {fma(s_of_oh1 * u1, old_1, x.s), fma(-(d_of_oh1 * u1), old_1, x.d)};
    const T u2 = multiplier(r_oh2, w_oh2, x.s + x.d, old_2);
    x = {fma(s_of_oh2 * u2, old_2, x.s), fma(d_of_oh2 * u2, old_2, x.d)};
    const T u3 = multiplier(r_hh2, w_hh, x.d, old.d);
    x.d = fma(d_of_hh * u3, old.d, x.d);
    if constexpr (!std::is_same_v<M, Masses<S>>) x.s = fma(T(w_2 - w_1) * u3, old.d, x.s);
    r.iterations = r.iterations + select(active, T(S(1)), zero);
    active = active & !(move < T(tolerance));
    if (!any(active)) break;
  }
  r.change = x - free;
  r.converged = (!active) & is_number(x);
  return r;
}

}  // namespace tarn::inline TARN_ARCH
