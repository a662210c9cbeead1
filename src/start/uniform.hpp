#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "physics/noise.hpp"
#include "tarn/core/units.hpp"

namespace tarn::start {

/// Eight uniform numbers in (0, 1), a function of (seed, replica, molecule, draw).
inline std::array<double, 8> uniforms(std::uint64_t seed, std::uint64_t replica,
                                      std::uint64_t molecule, std::uint64_t draw) {
  std::array<double, 8> u;
  for (std::uint32_t call = 0; call < 2; ++call) {
    const PhiloxWords<std::uint64_t> w =
        noise_words<std::uint64_t>(seed, replica, molecule, draw, NoiseStream::start_cluster, call);
    const std::uint64_t words[4] = {w.w0, w.w1, w.w2, w.w3};
    for (std::size_t i = 0; i < 4; ++i) {
      u[4 * call + i] = (static_cast<double>(words[i] & 0xffffffffu) + 0.5) * 0x1p-32;
    }
  }
  return u;
}

/// A direction uniformly distributed on the sphere, from two uniform numbers.
inline Eigen::Vector3d random_direction(double u, double v) {
  const double z = 1.0 - 2.0 * u, r = std::sqrt(1.0 - z * z), angle = 2.0 * units::pi * v;
  return {r * std::cos(angle), r * std::sin(angle), z};
}

/// A uniformly distributed rotation, from three uniform numbers (Shoemake 1992).
inline Eigen::Quaterniond random_rotation(double u, double v, double w) {
  const double a = std::sqrt(1.0 - u), b = std::sqrt(u);
  const double s = 2.0 * units::pi * v, t = 2.0 * units::pi * w;
  return Eigen::Quaterniond(b * std::cos(t), a * std::sin(s), a * std::cos(s), b * std::sin(t))
      .normalized();
}

}  // namespace tarn::start
