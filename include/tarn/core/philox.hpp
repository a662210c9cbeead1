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

/// Two independent standard normal numbers from two 32-bit words (Box-Muller in float).
///
/// Multiplications and additions are rounded one by one and the square root is correctly rounded,
/// so that every instruction set and the GPU give the same bits. The largest value is 6.66.
/// @param F float or a pack of floats; @param U std::uint32_t or a pack of them
template <class F, class U>
TARN_HD void box_muller(const U& radius_word, const U& angle_word, F& first, F& second) {
  // u in (0, 1]; 31 bits, so that the conversion is from a positive signed integer.
  const F u = (float_of_int(radius_word >> 1) + F(0.5f)) * F(4.656612873077393e-10f);
  // ln u = e ln 2 + ln m with m in [sqrt(1/2), sqrt(2)).
  const U bits = bits_of(u);
  const U exponent = shift_right_signed(bits - U(0x3f3504f3u), 23);
  const F e = float_of_int(exponent);
  const F f = float_of_bits(bits - (exponent << 23)) - F(1.0f);
  const F ff = f * f;
  F p = F(7.0376836292e-2f);
  p = p * f + F(-1.1514610310e-1f);
  p = p * f + F(1.1676998740e-1f);
  p = p * f + F(-1.2420140846e-1f);
  p = p * f + F(1.4249322787e-1f);
  p = p * f + F(-1.6668057665e-1f);
  p = p * f + F(2.0000714765e-1f);
  p = p * f + F(-2.4999993993e-1f);
  p = p * f + F(3.3333331174e-1f);
  p = p * f * ff;
  p = p + e * F(-2.12194440e-4f);
  p = p - F(0.5f) * ff;
  const F log_u = (f + p) + e * F(0.693359375f);
  const F radius = sqrt(max(F(-2.0f) * log_u, F(0.0f)));

  // The angle is a signed fraction of a turn: a quadrant and a rest in [-1/8, 1/8) turns.
  const U quadrant = (angle_word + U(0x20000000u)) >> 30;
  const F x = float_of_int(angle_word - (quadrant << 30)) * F(1.4629180792671596e-9f);
  const F xx = x * x;
  F s = F(-1.9515295891e-4f);
  s = s * xx + F(8.3321608736e-3f);
  s = s * xx + F(-1.6666654611e-1f);
  s = s * xx * x + x;
  F c = F(2.443315711809948e-5f);
  c = c * xx + F(-1.388731625493765e-3f);
  c = c * xx + F(4.166664568298827e-2f);
  c = c * xx * xx - F(0.5f) * xx + F(1.0f);
  const U odd = quadrant & U(1u);
  const F cosine = select_zero(odd, c, s);
  const F sine = select_zero(odd, s, c);
  const U cosine_sign = ((quadrant + U(1u)) & U(2u)) << 30;
  const U sine_sign = (quadrant & U(2u)) << 30;
  first = radius * float_of_bits(bits_of(cosine) ^ cosine_sign);
  second = radius * float_of_bits(bits_of(sine) ^ sine_sign);
}

}  // namespace TARN_ARCH
}  // namespace tarn
