#pragma once

#include <cstdint>
#include <type_traits>

#include "tarn/core/number.hpp"

namespace tarn::inline TARN_ARCH {

/// Four 32-bit words in the low halves of std::uint64_t or packs of it. The high halves are
/// undefined.
template <class W0, class W1 = W0, class W2 = W0, class W3 = W0>
struct PhiloxWords {
  W0 w0;
  W1 w1;
  W2 w2;
  W3 w3;
};

/// The keys of the ten rounds, from a 64-bit key.
struct PhiloxKeys {
  std::uint64_t k0[10], k1[10];  ///< only the low halves are used

  TARN_HD PhiloxKeys(std::uint64_t key) {
    TARN_UNROLL(10)
    for (std::uint32_t round = 0; round < 10; ++round) {
      k0[round] = static_cast<std::uint32_t>(key) + round * 0x9E3779B9u;
      k1[round] = static_cast<std::uint32_t>(key >> 32) + round * 0xBB67AE85u;
    }
  }
};

namespace detail {

/// a ^ b ^ key, scalars first: they are the same for all lanes of a pack.
template <class A, class B>
TARN_HD auto exclusive_or(const A& a, const B& b, std::uint64_t key) {
  if constexpr (std::is_same_v<A, std::uint64_t>) {
    return b ^ (a ^ key);
  } else if constexpr (std::is_same_v<B, std::uint64_t>) {
    return a ^ (b ^ key);
  } else {
    return (a ^ b) ^ A(key);
  }
}
template <class W0, class W1, class W2, class W3>
TARN_HD auto philox_round(const PhiloxWords<W0, W1, W2, W3>& c, std::uint64_t k0,
                          std::uint64_t k1) {
  const W0 p0 = multiply_low32(c.w0, 0xD2511F53u);
  const W2 p1 = multiply_low32(c.w2, 0xCD9E8D57u);
  const auto w0 = exclusive_or(p1 >> 32, c.w1, k0);
  const auto w2 = exclusive_or(p0 >> 32, c.w3, k1);
  return PhiloxWords<std::decay_t<decltype(w0)>, W2, std::decay_t<decltype(w2)>, W0>{w0, p1, w2,
                                                                                     p0};
}
template <int round, class Words, class Out, int count>
TARN_HD void philox_rounds(const Words (&c)[count], const PhiloxKeys& keys, Out (&out)[count]) {
  if constexpr (round == 10) {
    for (int i = 0; i < count; ++i) out[i] = c[i];
  } else {
    decltype(philox_round(c[0], keys.k0[0], keys.k1[0])) next[count];
    TARN_UNROLL(4)
    for (int i = 0; i < count; ++i) {
      next[i] = philox_round(c[i], keys.k0[round], keys.k1[round]);
    }
    philox_rounds<round + 1>(next, keys, out);
  }
}

}  // namespace detail

/// Philox4x32-10 (Salmon et al. 2011), equation (22): ten rounds on each of `count` counters with a
/// 64-bit key. Counters are computed side by side to hide the latency of the multiplications. The
/// low halves of the result equal those of Random123 bit for bit.
///
/// Words of a counter that are the same in all lanes may be scalars next to packs; the first rounds
/// then take fewer operations.
template <class W0, class W1, class W2, class W3, class U, int count>
TARN_HD void philox4x32_10(const PhiloxWords<W0, W1, W2, W3> (&counters)[count],
                           const PhiloxKeys& keys, PhiloxWords<U> (&out)[count]) {
  detail::philox_rounds<0>(counters, keys, out);
}
template <class U>
TARN_HD PhiloxWords<U> philox4x32_10(const PhiloxWords<U>& counter, const PhiloxKeys& keys) {
  const PhiloxWords<U> c[1] = {counter};
  PhiloxWords<U> r[1];
  philox4x32_10(c, keys, r);
  return r[0];
}

/// Two independent standard normal numbers from 27 and 24 bits (Box & Muller 1958 in float,
/// equation (23)).
///
/// Multiplications and additions are not fused and the square root is correctly rounded, so that
/// all instruction sets and GPUs give the same bits. The largest value is 6.23.
/// @tparam F float or a pack of floats
/// @tparam U std::uint32_t or a pack of it
/// @param radius_word its highest 27 bits are used
/// @param angle_word its highest 24 bits are used: the first adds half a turn to -1/4 ... 1/4 turns
template <class F, class U>
TARN_HD void box_muller(const U& radius_word, const U& angle_word, F& first, F& second) {
  // 2^27 u, u in (0, 1].
  const F v = float_of_int(radius_word >> 5) + F(0.5f);
  // -2 ln u = -2 e ln 2 - 2 ln m with m = 1 + f in [sqrt(1/2), sqrt(2)); the polynomial is within
  // 2.9 2^-24 of -2 ln(1 + f) / f.
  const U from_half_root = bits_of(v) - U(0x4cb504f3u);
  const U exponent = shift_right_signed(from_half_root, 23);
  const F f = float_of_bits((from_half_root & U(0x7fffffu)) + U(0x3f3504f3u)) - F(1.0f);
  F p = F(0.202137858f);
  p = p * f - F(0.324451596f);
  p = p * f + F(0.345016599f);
  p = p * f - F(0.398003310f);
  p = p * f + F(0.499398172f);
  p = p * f - F(0.666701198f);
  p = p * f + F(1.00000727f);
  p = p * f - F(1.99999988f);
  const F radius = sqrt_in_range(p * f + float_of_int(exponent) * F(-1.38629436f));

  // x in [-1/2, 1/2) half turns, and a radius with either sign.
  const F x = float_of_bits(((angle_word >> 8) & U(0x7fffffu)) | U(0x3f800000u)) - F(1.5f);
  const F xx = x * x;
  F s = F(0x1p9f * 1.49283532e-4f);
  s = s * xx - F(0x1p7f * 4.66894731e-3f);
  s = s * xx + F(0x1p5f * 7.96861798e-2f);
  s = s * xx - F(0x1p3f * 6.45962775e-1f);
  s = s * xx + F(0x1p1f * 1.57079625f);
  F c = F(0x1p8f * 8.59397172e-4f);
  c = c * xx - F(0x1p6f * 2.08134707e-2f);
  c = c * xx + F(0x1p4f * 2.53652960e-1f);
  c = c * xx - F(0x1p2f * 1.23369884f);
  c = c * xx + F(1.0f);
  const F r = float_of_bits(bits_of(radius) ^ (angle_word & U(0x80000000u)));
  first = r * c;
  second = r * (s * x);
}

}  // namespace tarn::inline TARN_ARCH
