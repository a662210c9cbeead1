#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tarn/core/host_device.hpp"

/// @file
/// Reciprocal square roots with the errors that GPU instructions may have: a pseudo-random fraction
/// of the documented bound, the same for the same number.

namespace tarn {
inline namespace TARN_ARCH {

/// Between -1 and 1, by the bits of a number (multiplication by 2^64 / phi, and its upper half).
inline double wrongness(std::uint64_t bits) {
  bits = (bits ^ bits >> 29) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u;
  return static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
}

/// PTX, rsqrt.approx.ftz.f32: a relative error of 2^-22.9 at most, the last rounding included.
inline float approximate_rsqrt(float a) {
  if (std::fabs(a) < std::numeric_limits<float>::min()) a = std::copysign(0.0f, a);
  const double exact = 1.0 / std::sqrt(static_cast<double>(a));
  if (!(exact > 0.0) || std::isinf(exact)) return static_cast<float>(exact);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &a, sizeof(a));
  const double most = std::exp2(-22.9) * exact;
  const float y = static_cast<float>(exact + most * wrongness(bits));
  return std::fabs(y - exact) <= most ? y : std::nextafter(y, static_cast<float>(exact));
}

/// PTX, rsqrt.approx.ftz.f64: the lower word of the result is 0. Its error is not documented; here
/// it is up to 2^-20 before the lower word is cleared, to test the refinement.
inline double approximate_rsqrt(double a) {
  if (std::fabs(a) < std::numeric_limits<double>::min()) a = std::copysign(0.0, a);
  const double exact = 1.0 / std::sqrt(a);
  if (!(exact > 0.0) || std::isinf(exact)) return exact;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &a, sizeof(a));
  const double y = exact * (1.0 + 0x1p-20 * wrongness(bits));
  std::memcpy(&bits, &y, sizeof(y));
  bits = (bits + 0x80000000u) & ~std::uint64_t{0xffffffffu};
  double rounded = 0.0;
  std::memcpy(&rounded, &bits, sizeof(rounded));
  return rounded;
}

}  // namespace TARN_ARCH
}  // namespace tarn
