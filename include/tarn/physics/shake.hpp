#pragma once

#include "tarn/physics/penalty.hpp"

namespace tarn {
inline namespace TARN_ARCH {

inline constexpr int kShakeMaxSweeps = 500;

template <class T>
struct ShakeResult {
  Triple<T> x;
  mask_t<T> converged;
  T sweeps;  ///< sweeps that each lane needed
};

/// SHAKE (Ryckaert et al. 1977): moves x along the gradients at x_old until the three bond lengths
/// hold, one bond after the other, until no bond of a sweep moves by more than `tolerance` relative
/// to its length. A lane that has converged does not move any more, so that a molecule's result
/// does not depend on the other lanes.
template <class T, class S>
TARN_HD ShakeResult<T> shake(const Triple<T>& x_old, const Triple<T>& x_free,
                             const BondReference<S>& reference, const Masses<S>& m,
                             const S& tolerance) {
  const Bonds<T> b = bonds(x_old);
  const T w_o = T(m.inverse_o), w_h = T(m.inverse_h);
  ShakeResult<T> r;
  r.x = x_free;
  r.sweeps = T(S(0));
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
  for (int sweep = 0; sweep < kShakeMaxSweeps; ++sweep) {
    T move = T(S(0));
    correct(w_o, w_h, T(reference.oh2), b.d1, active, r.x.o, r.x.h1, move);
    correct(w_o, w_h, T(reference.oh2), b.d2, active, r.x.o, r.x.h2, move);
    correct(w_h, w_h, T(reference.hh2), b.d3, active, r.x.h1, r.x.h2, move);
    r.sweeps = r.sweeps + select(active, T(S(1)), T(S(0)));
    active = active & (move > T(tolerance));
    if (!any(active)) break;
  }
  r.converged = !active;
  return r;
}

}  // namespace TARN_ARCH
}  // namespace tarn
