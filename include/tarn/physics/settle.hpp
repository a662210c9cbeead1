#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// SETTLE: the rigid triangle that is reached from x_free by constraint forces along the bonds of
/// x_old. x_old must hold the constraints. Where the move is too large for any solution the result
/// is not a number.
template <class T, class S>
TARN_HD Triple<T> settle(const Triple<T>& x_old, const Triple<T>& x_free,
                         const SettleParameters<S>& p) {
  const T one = T(S(1));
  const Vec3<T> b0 = x_old.h1 - x_old.o;
  const Vec3<T> c0 = x_old.h2 - x_old.o;
  const Vec3<T> free_b = x_free.h1 - x_free.o;
  const Vec3<T> free_c = x_free.h2 - x_free.o;
  // Positions about the new centre of mass, from differences only.
  const Vec3<T> a1 = T(-p.fraction_h) * (free_b + free_c);
  const Vec3<T> b1 = a1 + free_b;
  const Vec3<T> c1 = a1 + free_c;
  const Vec3<T> centre = x_free.o - a1;

  // Axes: z normal to the old triangle, x normal to z and to O, y in the plane of z and O.
  const Vec3<T> z_raw = cross(b0, c0);
  const Vec3<T> x_raw = cross(a1, z_raw);
  const Vec3<T> y_raw = cross(z_raw, x_raw);
  const Vec3<T> ez = rsqrt(norm2(z_raw)) * z_raw;
  const Vec3<T> ex = rsqrt(norm2(x_raw)) * x_raw;
  const Vec3<T> ey = rsqrt(norm2(y_raw)) * y_raw;

  const T b0x = dot(ex, b0), b0y = dot(ey, b0);
  const T c0x = dot(ex, c0), c0y = dot(ey, c0);
  const T a1z = dot(ez, a1);
  const T b1x = dot(ex, b1), b1y = dot(ey, b1), b1z = dot(ez, b1);
  const T c1x = dot(ex, c1), c1y = dot(ey, c1), c1z = dot(ez, c1);

  const T sin_phi = a1z * T(S(1) / p.ra);
  const T cos_phi = sqrt(fnma(sin_phi, sin_phi, one));
  const T sin_psi = (b1z - c1z) / (T(S(2) * p.rc) * cos_phi);
  const T cos_psi = sqrt(fnma(sin_psi, sin_psi, one));

  const T a2y = T(p.ra) * cos_phi;
  const T b2x = T(-p.rc) * cos_psi;
  const T t1 = T(-p.rb) * cos_phi;
  const T t2 = T(p.rc) * sin_psi * sin_phi;
  const T b2y = t1 - t2;
  const T c2y = t1 + t2;

  const T alpha = fma(b2x, b0x - c0x, fma(b0y, b2y, c0y * c2y));
  const T beta = fma(b2x, c0y - b0y, fma(b0x, b2y, c0x * c2y));
  const T gamma = fnma(b1x, b0y, b0x * b1y) + fnma(c1x, c0y, c0x * c1y);
  const T norm = fma(alpha, alpha, beta * beta);
  const T root = sqrt(fnma(gamma, gamma, norm));
  const T sin_theta = fnma(beta, root, alpha * gamma) / norm;
  const T cos_theta = fma(alpha, root, beta * gamma) / norm;

  const Vec3<T> a3{-(a2y * sin_theta), a2y * cos_theta, a1z};
  const Vec3<T> b3{fnma(b2y, sin_theta, b2x * cos_theta), fma(b2x, sin_theta, b2y * cos_theta),
                   b1z};
  const Vec3<T> c3{-fma(c2y, sin_theta, b2x * cos_theta), fnma(b2x, sin_theta, c2y * cos_theta),
                   c1z};
  const auto back = [&](const Vec3<T>& u) {
    return fma(u.x, ex, fma(u.y, ey, fma(u.z, ez, centre)));
  };
  return {back(a3), back(b3), back(c3)};
}

}  // namespace TARN_ARCH
}  // namespace tarn
