#pragma once

#include "jacobi_vectors.hpp"

namespace tarn::inline TARN_ARCH {

/// SETTLE (Miyamoto & Kollman 1992), equation (19).
///
/// `old` must satisfy the constraints; small violations are corrected to first order.
/// @return the change from `free` to the rigid triangle that is reached by constraint forces along
///         the bonds of `old`; NaN if the move is too large for a solution
template <class T, class S>
TARN_HD JacobiVectors<T> settle(const JacobiVectors<T>& old, const JacobiVectors<T>& free,
                                const SettleParameters<S>& p) {
  const T one = T(S(1));
  // Heights of the new triangle's unit vectors over the plane of the old one. The forces are in
  // this plane, so the heights are those of `free`.
  const Vec3<T> z = cross(old.d, old.s);
  const T d_z = T(p.inverse_d * p.inverse_d * p.inverse_s) * dot(free.d, z);
  const T s_z = T(p.inverse_s * p.inverse_s * p.inverse_d) * dot(free.s, z);
  const T dd = d_z * d_z, ss = s_z * s_z, ds = d_z * s_z;
  // The shortest rotation to these heights acts in the plane as (c - dd, -ds; -ds, c - ss)/c.
  const T c = one + sqrt_of_positive(fnma(s_z, s_z, one - dd));
  const T turn_d = c - dd, turn_s = c - ss;
  // Then a rotation by theta about z: alpha sin theta + beta cos theta = gamma, all times c.
  const T gamma_d = T(p.inertia_d * p.inverse_s * p.inverse_d) * dot(free.d, old.s);
  const T gamma = c * fnma(T(p.inertia_s * p.inverse_s * p.inverse_d), dot(free.s, old.d), gamma_d);
  const T alpha = fnma(T(p.inertia_s), ss, fnma(T(p.inertia_d), dd, c));
  const T beta = T(p.inertia_s - p.inertia_d) * ds;
  const T norm = fma(alpha, alpha, beta * beta);
  const T root = sqrt_of_positive(fnma(gamma, gamma, norm));
  // cos theta = (alpha root + beta gamma)/norm, sin theta = (alpha gamma - beta root)/norm.
  const T inverse = one / (c * norm);
  const T a_d = fnma(beta, ds, alpha * turn_d), b_d = fma(alpha, ds, beta * turn_d);
  const T a_s = fma(beta, ds, alpha * turn_s), b_s = fnma(alpha, ds, beta * turn_s);
  const T d_d = inverse * fma(root, a_d, gamma * b_d), d_s = fnma(root, b_d, gamma * a_d);
  const T s_s = inverse * fma(root, a_s, gamma * b_s), s_d = fnma(gamma, a_s, root * b_s);
  // Corrections for the length of the old vectors, and e for their angle.
  const T three_halves = T(S(1.5));
  const T to_d = fnma(T(S(0.5) * p.inverse_d * p.inverse_d), norm2(old.d), three_halves);
  const T to_s = fnma(T(S(0.5) * p.inverse_s * p.inverse_s), norm2(old.s), three_halves);
  const T e = T(S(0.5) * p.inverse_s * p.inverse_d) * dot(old.s, old.d);
  const T k_ss = to_s * s_s, k_sd = T(p.s_over_d) * fma(inverse, s_d, -e);
  const T k_dd = to_d * d_d, k_ds = T(p.d_over_s) * fma(inverse, d_s, -e);
  const T k_sz = T(p.inverse_d) * s_z, k_dz = T(p.inverse_s) * d_z;
  return {fma(k_ss, old.s, fma(k_sd, old.d, fma(k_sz, z, -free.s))),
          fma(k_dd, old.d, fma(k_ds, old.s, fma(k_dz, z, -free.d)))};
}

}  // namespace tarn::inline TARN_ARCH
