#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "tarn/core/number.hpp"
#include "tarn/core/vec3.hpp"

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// @file
/// SIMD packs based on GCC's vector extension. A Pack behaves like a number in formulas. Its width
/// is that of the translation unit's instruction set: 8 doubles for AVX-512, 4 for AVX2, else 2
/// (SSE2, NEON or none).
///
/// Lane operations are IEEE operations: a lane gives the same bits as a scalar. The exception is
/// rsqrt(), whose last bit depends on the instruction set.

#if !defined(__CUDACC__)  // device code has no vectors: a lane is a thread

namespace tarn::inline TARN_ARCH {

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TARN_PACK_AVX512 1
inline constexpr int kPackBytes = 64;
#elif defined(__AVX2__) && defined(__FMA__)
#define TARN_PACK_AVX2 1
inline constexpr int kPackBytes = 32;
#else
#if defined(__aarch64__)
#define TARN_PACK_NEON 1
#endif
inline constexpr int kPackBytes = 16;
#endif
// Estimates of 1/sqrt(a) have 11 bits with AVX2, and at least 14 with AVX-512 and NEON.
#if defined(TARN_PACK_AVX512) || defined(TARN_PACK_NEON)
#define TARN_ESTIMATE_OF_14_BITS 1
#endif

/// The compiler's vector type with kBytes of T, and the integer type of its masks.
template <class T, int kBytes = kPackBytes>
struct Simd;
#define TARN_SIMD(T, INTEGER)                                        \
  template <int kBytes>                                              \
  struct Simd<T, kBytes> {                                           \
    typedef T Native __attribute__((vector_size(kBytes)));           \
    using MaskInteger = INTEGER;                                     \
    typedef INTEGER MaskNative __attribute__((vector_size(kBytes))); \
  }
TARN_SIMD(double, std::int64_t);
TARN_SIMD(float, std::int32_t);
TARN_SIMD(std::int32_t, std::int32_t);
TARN_SIMD(std::uint32_t, std::int32_t);
TARN_SIMD(std::int64_t, std::int64_t);
TARN_SIMD(std::uint64_t, std::int64_t);
#undef TARN_SIMD
/// Half of a pack, the result of a conversion between types of 4 and 8 bytes.
template <class T>
using HalfNative = typename Simd<T, kPackBytes / 2>::Native;

/// True or false in each lane of a Pack<T>.
template <class T>
struct Mask {
  using Integer = typename Simd<T>::MaskInteger;
  using Native = typename Simd<T>::MaskNative;
  Native v;

  friend TARN_HD Mask operator&(const Mask& a, const Mask& b) { return {a.v & b.v}; }
  friend TARN_HD Mask operator|(const Mask& a, const Mask& b) { return {a.v | b.v}; }
  friend TARN_HD Mask operator!(const Mask& a) { return {~a.v}; }
};

template <class T>
struct Pack {
  using Scalar = T;
  using Native = typename Simd<T>::Native;
  static constexpr int lanes = kPackBytes / static_cast<int>(sizeof(T));
  Native v;

  Pack() = default;
  TARN_HD Pack(Native native) : v(native) {}
  /// The same number in all lanes. s - 0 is s for every s, and compiles to a broadcast.
  TARN_HD Pack(T scalar) : v(scalar - Native{}) {}

  /// Loads `lanes` consecutive numbers, aligned to the width of the pack.
  static TARN_HD Pack load(const T* p) {
    return *reinterpret_cast<const Native*>(__builtin_assume_aligned(p, kPackBytes));
  }
  static TARN_HD Pack load_unaligned(const T* p) {
    Pack r;
    std::memcpy(&r.v, p, sizeof(Native));
    return r;
  }
  TARN_HD void store(T* p) const {
    *reinterpret_cast<Native*>(__builtin_assume_aligned(p, kPackBytes)) = v;
  }
  TARN_HD void store_unaligned(T* p) const { std::memcpy(p, &v, sizeof(Native)); }
  TARN_HD T operator[](int lane) const { return v[lane]; }

  friend TARN_HD Pack operator+(const Pack& a, const Pack& b) { return a.v + b.v; }
  friend TARN_HD Pack operator-(const Pack& a, const Pack& b) { return a.v - b.v; }
  friend TARN_HD Pack operator*(const Pack& a, const Pack& b) { return a.v * b.v; }
  friend TARN_HD Pack operator/(const Pack& a, const Pack& b) { return a.v / b.v; }
  friend TARN_HD Pack operator-(const Pack& a) { return -a.v; }
  friend TARN_HD Pack operator&(const Pack& a, const Pack& b) { return a.v & b.v; }
  friend TARN_HD Pack operator|(const Pack& a, const Pack& b) { return a.v | b.v; }
  friend TARN_HD Pack operator^(const Pack& a, const Pack& b) { return a.v ^ b.v; }
  friend TARN_HD Pack operator<<(const Pack& a, int n) { return a.v << n; }
  friend TARN_HD Pack operator>>(const Pack& a, int n) { return a.v >> n; }
  friend TARN_HD Mask<T> operator<(const Pack& a, const Pack& b) {
    return {(typename Mask<T>::Native)(a.v < b.v)};
  }
  friend TARN_HD Mask<T> operator>(const Pack& a, const Pack& b) {
    return {(typename Mask<T>::Native)(a.v > b.v)};
  }
  friend TARN_HD Mask<T> operator==(const Pack& a, const Pack& b) {
    return {(typename Mask<T>::Native)(a.v == b.v)};
  }
};

template <class T>
struct ScalarOf<Pack<T>> {
  using type = T;
};
template <class T>
struct MaskOf<Pack<T>> {
  using type = Mask<T>;
};
// --- selection -----------------------------------------------------------------------------------

template <class T>
TARN_HD Pack<T> select(const Mask<T>& m, const Pack<T>& yes, const Pack<T>& no) {
  return m.v ? yes.v : no.v;
}
template <class T>
TARN_HD bool any(const Mask<T>& m) {
#if defined(TARN_PACK_AVX512)
  if constexpr (sizeof(T) == 8) return _mm512_movepi64_mask(reinterpret_cast<__m512i>(m.v)) != 0;
  if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask(reinterpret_cast<__m512i>(m.v)) != 0;
#elif defined(TARN_PACK_AVX2)
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(m.v)) != 0;
#elif defined(TARN_PACK_NEON)
  return vmaxvq_u32(reinterpret_cast<uint32x4_t>(m.v)) != 0;
#else
  typename Mask<T>::Integer r = 0;
  for (int i = 0; i < Pack<T>::lanes; ++i) r |= m.v[i];
  return r != 0;
#endif
}

/// Lane by lane: a call of the library for each.
TARN_HD Pack<double> acos(const Pack<double>& a) {
  Pack<double> r;
  for (int lane = 0; lane < Pack<double>::lanes; ++lane) r.v[lane] = acos(a[lane]);
  return r;
}

// --- fused multiply-add, square root, reciprocal square root -------------------------------------

#if defined(TARN_PACK_AVX512)
TARN_HD Pack<double> fma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return {_mm512_fmadd_pd(a.v, b.v, c.v)};
}
TARN_HD Pack<float> fma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
TARN_HD Pack<double> fnma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return {_mm512_fnmadd_pd(a.v, b.v, c.v)};
}
TARN_HD Pack<float> fnma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return {_mm512_fnmadd_ps(a.v, b.v, c.v)};
}
TARN_HD Pack<double> sqrt(const Pack<double>& a) { return {_mm512_sqrt_pd(a.v)}; }
TARN_HD Pack<float> sqrt(const Pack<float>& a) { return {_mm512_sqrt_ps(a.v)}; }
/// 1/sqrt(a) to 14 bits.
TARN_HD Pack<double> rsqrt_estimate(const Pack<double>& a) { return {_mm512_rsqrt14_pd(a.v)}; }
TARN_HD Pack<float> rsqrt_estimate(const Pack<float>& a) { return {_mm512_rsqrt14_ps(a.v)}; }
#elif defined(TARN_PACK_AVX2)
TARN_HD Pack<double> fma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return {_mm256_fmadd_pd(a.v, b.v, c.v)};
}
TARN_HD Pack<float> fma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
TARN_HD Pack<double> fnma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return {_mm256_fnmadd_pd(a.v, b.v, c.v)};
}
TARN_HD Pack<float> fnma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return {_mm256_fnmadd_ps(a.v, b.v, c.v)};
}
TARN_HD Pack<double> sqrt(const Pack<double>& a) { return {_mm256_sqrt_pd(a.v)}; }
TARN_HD Pack<float> sqrt(const Pack<float>& a) { return {_mm256_sqrt_ps(a.v)}; }
/// 1/sqrt(a) to 11 bits; a must be in the range of float.
TARN_HD Pack<double> rsqrt_estimate(const Pack<double>& a) {
  return {_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(a.v)))};
}
TARN_HD Pack<float> rsqrt_estimate(const Pack<float>& a) { return {_mm256_rsqrt_ps(a.v)}; }
#elif defined(TARN_PACK_NEON)
TARN_HD Pack<double> fma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return {vfmaq_f64(c.v, a.v, b.v)};
}
TARN_HD Pack<float> fma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return {vfmaq_f32(c.v, a.v, b.v)};
}
TARN_HD Pack<double> fnma(const Pack<double>& a, const Pack<double>& b, const Pack<double>& c) {
  return {vfmsq_f64(c.v, a.v, b.v)};
}
TARN_HD Pack<float> fnma(const Pack<float>& a, const Pack<float>& b, const Pack<float>& c) {
  return {vfmsq_f32(c.v, a.v, b.v)};
}
TARN_HD Pack<double> sqrt(const Pack<double>& a) { return {vsqrtq_f64(a.v)}; }
TARN_HD Pack<float> sqrt(const Pack<float>& a) { return {vsqrtq_f32(a.v)}; }
/// 1/sqrt(a) to 15 bits: an estimate of 8 bits and one step of Newton's method.
TARN_HD Pack<double> rsqrt_estimate(const Pack<double>& a) {
  const float64x2_t y = vrsqrteq_f64(a.v);
  return {vmulq_f64(y, vrsqrtsq_f64(a.v, vmulq_f64(y, y)))};
}
TARN_HD Pack<float> rsqrt_estimate(const Pack<float>& a) {
  const float32x4_t y = vrsqrteq_f32(a.v);
  return {vmulq_f32(y, vrsqrtsq_f32(a.v, vmulq_f32(y, y)))};
}
#else
template <class T>
TARN_HD Pack<T> fma(const Pack<T>& a, const Pack<T>& b, const Pack<T>& c) {
  return a * b + c;
}
template <class T>
TARN_HD Pack<T> fnma(const Pack<T>& a, const Pack<T>& b, const Pack<T>& c) {
  return c - a * b;
}
#if defined(__SSE2__)
TARN_HD Pack<double> sqrt(const Pack<double>& a) { return {_mm_sqrt_pd(a.v)}; }
TARN_HD Pack<float> sqrt(const Pack<float>& a) { return {_mm_sqrt_ps(a.v)}; }
#else
template <class T>
TARN_HD Pack<T> sqrt(const Pack<T>& a) {
  Pack<T> r;
  for (int i = 0; i < Pack<T>::lanes; ++i) r.v[i] = static_cast<T>(__builtin_sqrt(a.v[i]));
  return r;
}
#endif
#endif

#if defined(TARN_PACK_AVX512) || defined(TARN_PACK_AVX2) || defined(TARN_PACK_NEON)
/// 1/sqrt(a) for a > 0, accurate to the last bit but one: the estimate y0 is corrected by the
/// series of (1 - e)^(-1/2), e = 1 - a y0^2, with as many terms as the estimate requires.
TARN_HD Pack<double> rsqrt(const Pack<double>& a) {
  const Pack<double> y = rsqrt_estimate(a);
  const Pack<double> e = fnma(a * y, y, Pack<double>(1.0));
#if defined(TARN_ESTIMATE_OF_14_BITS)
  Pack<double> p = fma(Pack<double>(5.0 / 16.0), e, Pack<double>(3.0 / 8.0));
#else
  Pack<double> p = fma(Pack<double>(35.0 / 128.0), e, Pack<double>(5.0 / 16.0));
  p = fma(p, e, Pack<double>(3.0 / 8.0));
#endif
  p = fma(p, e, Pack<double>(0.5));
  return fma(y * e, p, y);
}
TARN_HD Pack<float> rsqrt(const Pack<float>& a) {
  const Pack<float> y = rsqrt_estimate(a);
  const Pack<float> e = fnma(a * y, y, Pack<float>(1.0f));
#if defined(TARN_ESTIMATE_OF_14_BITS)
  return fma(y * e, Pack<float>(0.5f), y);
#else
  return fma(y * e, fma(Pack<float>(0.375f), e, Pack<float>(0.5f)), y);
#endif
}
#if defined(TARN_PACK_AVX512)
/// The same series times a. The hardware's square root of 8 doubles is slower.
TARN_HD Pack<double> sqrt_of_positive(const Pack<double>& a) {
  const Pack<double> y = rsqrt_estimate(a), root = a * y;
  const Pack<double> e = fnma(root, y, Pack<double>(1.0));
  Pack<double> p = fma(Pack<double>(5.0 / 16.0), e, Pack<double>(3.0 / 8.0));
  p = fma(p, e, Pack<double>(0.5));
  return fma(root * e, p, root);
}
#endif
/// out = s a^(-3/2) for a > 0 from y = rsqrt_estimate(a), by the series of (1 - e)^(-3/2), with
/// fewer operations than rsqrt(). Several numbers are computed side by side to hide the latency of
/// the multiplications.
template <int count>
TARN_HD void scaled_rsqrt_cubed(const Pack<double> (&s)[count], const Pack<double> (&a)[count],
                                const Pack<double> (&y)[count], Pack<double> (&out)[count]) {
  using P = Pack<double>;
  P sy3[count], y2[count], e[count], p[count];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) y2[k] = y[k] * y[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) sy3[k] = s[k] * y[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) e[k] = fnma(a[k], y2[k], P(1.0));
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) sy3[k] = sy3[k] * y2[k];
#if defined(TARN_ESTIMATE_OF_14_BITS)
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) p[k] = fma(P(35.0 / 16.0), e[k], P(15.0 / 8.0));
#else
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) p[k] = fma(P(315.0 / 128.0), e[k], P(35.0 / 16.0));
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) p[k] = fma(p[k], e[k], P(15.0 / 8.0));
#endif
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) p[k] = fma(p[k], e[k], P(1.5));
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) e[k] = sy3[k] * e[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) out[k] = fma(e[k], p[k], sy3[k]);
}
template <int count>
TARN_HD void scaled_rsqrt_cubed(const Pack<float> (&s)[count], const Pack<float> (&a)[count],
                                const Pack<float> (&y)[count], Pack<float> (&out)[count]) {
  using P = Pack<float>;
  P sy3[count], y2[count], e[count];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) y2[k] = y[k] * y[k];
#if defined(TARN_ESTIMATE_OF_14_BITS)
  // 1 + 3/2 e = 3/2 (5/3 - a y^2); s, which is a constant, takes the factor 3/2.
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) sy3[k] = (P(1.5f) * s[k]) * y[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) e[k] = fnma(a[k], y2[k], P(5.0f / 3.0f));
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) sy3[k] = sy3[k] * y2[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) out[k] = sy3[k] * e[k];
#else
  P p[count];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) sy3[k] = s[k] * y[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) e[k] = fnma(a[k], y2[k], P(1.0f));
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) sy3[k] = sy3[k] * y2[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) p[k] = fma(P(1.875f), e[k], P(1.5f));
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) e[k] = sy3[k] * e[k];
  TARN_UNROLL(4) for (int k = 0; k < count; ++k) out[k] = fma(e[k], p[k], sy3[k]);
#endif
}
#else
TARN_HD Pack<float> rsqrt(const Pack<float>& a) { return Pack<float>(1.0f) / sqrt(a); }
#endif

#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
TARN_HD void forget_what_follows_from(Pack<T>& a) {
  asm("" : "+x"(a.v));
}
#endif

/// The lane numbers 0, 1, 2 ...
template <class T>
TARN_HD Pack<T> lane_numbers() {
  Pack<T> r;
  for (int i = 0; i < Pack<T>::lanes; ++i) r.v[i] = static_cast<T>(i);
  return r;
}

/// Sum over the lanes in a fixed order, by halving.
template <class T>
TARN_HD T sum_lanes(const Pack<T>& a) {
  T r[Pack<T>::lanes];
  std::memcpy(r, &a.v, sizeof(r));
  for (int n = Pack<T>::lanes / 2; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) r[i] = r[i] + r[i + n];
  }
  return r[0];
}

/// Lane l of the result is lane index(l) of a and b, one after the other.
template <auto index, class Native, int... l>
TARN_HD auto shuffled(const Native& a, const Native& b, std::integer_sequence<int, l...>) {
  return __builtin_shufflevector(a, b, index(l)...);
}
/// The first lanes of that.
template <int lanes, auto index, class Native>
TARN_HD auto shuffled(const Native& a, const Native& b) {
  return shuffled<index>(a, b, std::make_integer_sequence<int, lanes>{});
}

/// Lane l of the result is lane l + 1 of a; its last lane is lane 0 of a.
template <class T>
TARN_HD Pack<T> rotate_lanes(const Pack<T>& a) {
  constexpr int lanes = Pack<T>::lanes;
  return {shuffled<lanes, [](int l) { return (l + 1) % lanes; }>(a.v, a.v)};
}

/// Lane l of the result is the sum over the lanes of a[l]. Pairs of packs are added to one, with
/// shuffles within 16 bytes where possible. The packs are overwritten.
template <class T>
TARN_HD Pack<T> sum_lanes_of_each(Pack<T> (&a)[Pack<T>::lanes]) {
  constexpr int lanes = Pack<T>::lanes, part = 16 / static_cast<int>(sizeof(T)), half = part / 2;
  // Adds two shuffles of packs i and j; the lanes of the second are `by` after those of the first.
  const auto add = [&a]<int by, auto index>(int i, int j) TARN_INLINE_LAMBDA {
    a[i] = Pack<T>(shuffled<lanes, index>(a[i].v, a[j].v)) +
           Pack<T>(shuffled<lanes, [](int l) { return index(l) + by; }>(a[i].v, a[j].v));
  };
  if constexpr (half == 2) {
    constexpr auto alternate = [](int l) { return l % 2 * lanes + l / 4 * 4 + l % 4 / 2; };
    for (int i = 0; i < lanes; i += 2) add.template operator()<2, alternate>(i, i + 1);
  }
  constexpr auto by_halves = [](int l) {
    return l % part / half * lanes + l / part * part + l % half;
  };
  for (int i = 0; i < lanes; i += part) add.template operator()<half, by_halves>(i, i + half);
  if constexpr (lanes > part) {
    constexpr auto by_parts = [](int l) {
      const int m = l % (lanes / 2);
      return l / (lanes / 2) * lanes + m / part * 2 * part + m % part;
    };
    for (int i = 0; i < lanes; i += 2 * part) add.template operator()<part, by_parts>(i, i + part);
    if constexpr (lanes > 2 * part) add.template operator()<part, by_parts>(0, 2 * part);
  }
  return a[0];
}

// --- conversions ---------------------------------------------------------------------------------

TARN_HD Pack<std::uint64_t> multiply_low32(const Pack<std::uint64_t>& a, std::uint32_t b) {
  using U64 = Pack<std::uint64_t>;
#if defined(TARN_PACK_AVX512)
  return {reinterpret_cast<U64::Native>(_mm512_mul_epu32(
      reinterpret_cast<__m512i>(a.v), reinterpret_cast<__m512i>(U64(std::uint64_t{b}).v)))};
#elif defined(TARN_PACK_AVX2)
  return {reinterpret_cast<U64::Native>(_mm256_mul_epu32(
      reinterpret_cast<__m256i>(a.v), reinterpret_cast<__m256i>(U64(std::uint64_t{b}).v)))};
#elif defined(__SSE2__)
  return {reinterpret_cast<U64::Native>(_mm_mul_epu32(
      reinterpret_cast<__m128i>(a.v), reinterpret_cast<__m128i>(U64(std::uint64_t{b}).v)))};
#elif defined(TARN_PACK_NEON)
  return {reinterpret_cast<U64::Native>(
      vmull_u32(vmovn_u64(reinterpret_cast<uint64x2_t>(a.v)), vdup_n_u32(b)))};
#else
  return (a & U64(std::uint64_t{0xffffffffu})).v * U64(std::uint64_t{b}).v;
#endif
}

/// The first and the second half of the lanes, and the inverse join_halves().
template <class T>
TARN_HD HalfNative<T> first_half(const Pack<T>& a) {
  return shuffled<Pack<T>::lanes / 2, [](int l) { return l; }>(a.v, a.v);
}
template <class T>
TARN_HD HalfNative<T> second_half(const Pack<T>& a) {
  return shuffled<Pack<T>::lanes / 2, [](int l) { return l + Pack<T>::lanes / 2; }>(a.v, a.v);
}
template <class T>
TARN_HD Pack<T> join_halves(const HalfNative<T>& a, const HalfNative<T>& b) {
  return {shuffled<Pack<T>::lanes, [](int l) { return l; }>(a, b)};
}

/// The low 32 bits of 2 L lanes of 64 bits, `low` first.
template <class T>
TARN_HD Pack<std::uint32_t> narrow(const Pack<T>& low, const Pack<T>& high) {
  constexpr int lanes = 2 * Pack<T>::lanes;
  using Words = typename Simd<std::uint32_t, 4 * lanes>::Native;
  return {shuffled<lanes, [](int l) { return 2 * l; }>(reinterpret_cast<Words>(low.v),
                                                       reinterpret_cast<Words>(high.v))};
}

/// Converts as many floats to a double pack, and back with rounding.
TARN_HD Pack<double> widened(const HalfNative<float>& a) {
#if defined(TARN_PACK_AVX512)
  return {_mm512_cvtps_pd(a)};
#elif defined(TARN_PACK_AVX2)
  return {_mm256_cvtps_pd(a)};
#else
  return {__builtin_convertvector(a, Pack<double>::Native)};
#endif
}
TARN_HD HalfNative<float> rounded(const Pack<double>& a) {
  return __builtin_convertvector(a.v, HalfNative<float>);
}
/// Converts a float pack to two double packs: lanes 0 .. L-1 and L .. 2L-1.
TARN_HD void widen(const Pack<float>& a, Pack<double>& low, Pack<double>& high) {
  low = widened(first_half(a));
  high = widened(second_half(a));
}
TARN_HD void widen(const Vec3<Pack<float>>& a, Vec3<Pack<double>>& low, Vec3<Pack<double>>& high) {
  widen(a.x, low.x, high.x);
  widen(a.y, low.y, high.y);
  widen(a.z, low.z, high.z);
}
/// The same from and to memory with the alignment of half a pack.
TARN_HD Pack<double> load_widened(const float* p) {
  HalfNative<float> a;
  std::memcpy(&a, __builtin_assume_aligned(p, kPackBytes / 2), sizeof(a));
  return widened(a);
}
TARN_HD void store_rounded(const Pack<double>& a, float* p) {
  const HalfNative<float> floats = rounded(a);
  std::memcpy(__builtin_assume_aligned(p, kPackBytes / 2), &floats, sizeof(floats));
}
/// Two double packs rounded to one float pack.
TARN_HD Pack<float> round_to_float(const Pack<double>& low, const Pack<double>& high) {
  return join_halves<float>(rounded(low), rounded(high));
}

TARN_HD Pack<float> float_of_int(const Pack<std::uint32_t>& a) {
  return {__builtin_convertvector(reinterpret_cast<Pack<std::int32_t>::Native>(a.v),
                                  Pack<float>::Native)};
}
TARN_HD Pack<std::uint32_t> nearest_int(const Pack<float>& a) {
  using U = Pack<std::uint32_t>;
#if defined(TARN_PACK_AVX512)
  return {reinterpret_cast<U::Native>(_mm512_cvtps_epi32(a.v))};
#elif defined(TARN_PACK_AVX2)
  return {reinterpret_cast<U::Native>(_mm256_cvtps_epi32(a.v))};
#elif defined(__SSE2__)
  return {reinterpret_cast<U::Native>(_mm_cvtps_epi32(a.v))};
#elif defined(TARN_PACK_NEON)
  return {reinterpret_cast<U::Native>(vcvtnq_s32_f32(a.v))};
#else
  U r;
  for (int i = 0; i < U::lanes; ++i) r.v[i] = nearest_int(a.v[i]);
  return r;
#endif
}
/// Converts signed 32-bit integers, given by their bits, to two double packs; and doubles with such
/// integer values back.
TARN_HD void widen_int(const Pack<std::uint32_t>& a, Pack<double>& low, Pack<double>& high) {
  using I = Pack<std::int32_t>;
  const I i(reinterpret_cast<I::Native>(a.v));
  low = Pack<double>(__builtin_convertvector(first_half(i), Pack<double>::Native));
  high = Pack<double>(__builtin_convertvector(second_half(i), Pack<double>::Native));
}
TARN_HD Pack<std::uint32_t> narrow_int(const Pack<double>& low, const Pack<double>& high) {
  using I = Pack<std::int32_t>;
  const I i = join_halves<std::int32_t>(__builtin_convertvector(low.v, HalfNative<std::int32_t>),
                                        __builtin_convertvector(high.v, HalfNative<std::int32_t>));
  return {reinterpret_cast<Pack<std::uint32_t>::Native>(i.v)};
}
TARN_HD Pack<std::uint32_t> bits_of(const Pack<float>& a) {
  return {reinterpret_cast<Pack<std::uint32_t>::Native>(a.v)};
}
TARN_HD Pack<float> float_of_bits(const Pack<std::uint32_t>& a) {
  return {reinterpret_cast<Pack<float>::Native>(a.v)};
}
TARN_HD Pack<std::uint32_t> shift_right_signed(const Pack<std::uint32_t>& a, int n) {
  return {reinterpret_cast<Pack<std::uint32_t>::Native>(
      reinterpret_cast<Pack<std::int32_t>::Native>(a.v) >> n)};
}

}  // namespace tarn::inline TARN_ARCH

#endif
