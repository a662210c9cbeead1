#pragma once

#include <cstdint>

#include "tarn/core/number.hpp"

namespace tarn {
inline namespace TARN_ARCH {

/// Four 32-bit words in the low halves of U, a std::uint64_t or a pack of them.
/// The high halves are not defined.
template <class U>
struct PhiloxWords {
  U w0, w1, w2, w3;
};

/// Philox4x32-10 (Salmon et al. 2011): ten rounds on each of `count` counters under a 64-bit key,
/// side by side, because one alone would wait for its own multiplications.
/// The low halves of the result equal Random123's, bit for bit.
template <int count, class U>
TARN_HD void philox4x32_10(PhiloxWords<U> (&c)[count], std::uint64_t key) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  TARN_UNROLL(10)
  for (int round = 0; round < 10; ++round) {
    const U key0(std::uint64_t{k0}), key1(std::uint64_t{k1});
    TARN_UNROLL(4)
    for (int i = 0; i < count; ++i) {
      const U p0 = multiply_low32(c[i].w0, 0xD2511F53u);
      const U p1 = multiply_low32(c[i].w2, 0xCD9E8D57u);
      c[i] = {(p1 >> 32) ^ c[i].w1 ^ key0, p1, (p0 >> 32) ^ c[i].w3 ^ key1, p0};
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}
template <class U>
TARN_HD PhiloxWords<U> philox4x32_10(const PhiloxWords<U>& counter, std::uint64_t key) {
  PhiloxWords<U> c[1] = {counter};
  philox4x32_10(c, key);
  return c[0];
}

/// Two independent standard normal numbers from 27 and 24 bits (Box-Muller in float).
///
/// Multiplications and additions are rounded one by one and the square root is correctly rounded,
/// so that every instruction set and the GPU give the same bits. The largest value is 6.23.
/// @param radius_bits below 2^27; @param angle_bits below 2^24
/// @param F float or a pack of floats; @param U std::uint32_t or a pack of them
template <class F, class U>
TARN_HD void box_muller(const U& radius_bits, const U& angle_bits, F& first, F& second) {
  // u in (0, 1].
  const F u = (float_of_int(radius_bits) + F(0.5f)) * F(0x1p-27f);
  // -2 ln u = -2 e ln 2 - 2 ln m with m = 1 + f in [sqrt(1/2), sqrt(2)); the polynomial is within
  // 2.9 2^-24 of -2 ln(1 + f) / f.
  const U bits = bits_of(u);
  const U exponent = shift_right_signed(bits - U(0x3f3504f3u), 23);
  const F f = float_of_bits(bits - (exponent << 23)) - F(1.0f);
  F p = F(0.202137858f);
  p = p * f - F(0.324451596f);
  p = p * f + F(0.345016599f);
  p = p * f - F(0.398003310f);
  p = p * f + F(0.499398172f);
  p = p * f - F(0.666701198f);
  p = p * f + F(1.00000727f);
  p = p * f - F(1.99999988f);
  const F radius = sqrt(p * f + float_of_int(exponent) * F(-1.38629436f));

  // A quadrant and a rest in [-1/8, 1/8) turns.
  const U turned = angle_bits + U(0x200000u);
  const F x = float_of_int(angle_bits - (turned & U(0xffc00000u))) * F(3.7450702829239286e-7f);
  const F xx = x * x;
  F s = F(-1.95040222e-4f);
  s = s * xx + F(8.33203644e-3f);
  s = s * xx - F(1.66666508e-1f);
  s = (s * xx + F(1.0f)) * x;
  F c = F(-1.35978230e-3f);
  c = c * xx + F(4.16562930e-2f);
  c = c * xx - F(4.99998957e-1f);
  c = c * xx + F(1.0f);
  // The two bits of the quadrant, highest in their words: the second swaps sine and cosine, the
  // first is the sign of the sine, and the cosine is negative where they differ.
  const U high = turned << 8, low = turned << 9, sign(0x80000000u);
  const F cosine = select_high_bit(low, s, c);
  const F sine = select_high_bit(low, c, s);
  first = radius * float_of_bits(bits_of(cosine) ^ ((high ^ low) & sign));
  second = radius * float_of_bits(bits_of(sine) ^ (high & sign));
}

}  // namespace TARN_ARCH
}  // namespace tarn
