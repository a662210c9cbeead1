#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "tarn/core/host_device.hpp"
#include "tarn/core/vec3.hpp"
#if defined(TARN_ESTIMATES)
#include TARN_ESTIMATES  // approximate_rsqrt() of what stands in for a GPU in the tests
#endif

/// @file
/// Operations beyond arithmetic that formulas use, for scalars. Packs (pack.hpp) and the dual
/// numbers of the tests overload them.

namespace tarn::inline TARN_ARCH {

/// Whether there are 32 vector registers rather than 16.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr bool kManyVectorRegisters = true;
#else
inline constexpr bool kManyVectorRegisters = false;
#endif

/// NaN, for values that cannot be computed.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// The scalar type of T: T itself, or the element type of a Pack.
template <class T>
struct ScalarOf {
  using type = T;
};
template <class T>
using scalar_t = typename ScalarOf<T>::type;

/// The result of comparing two T.
template <class T>
struct MaskOf {
  using type = bool;
};
template <class T>
using mask_t = typename MaskOf<T>::type;

template <class T>
TARN_HD T select(bool m, const T& yes, const T& no) {
  return m ? yes : no;
}
TARN_HD bool any(bool m) { return m; }

/// c - a b.
TARN_HD double fnma(double a, double b, double c) { return fma(-a, b, c); }
TARN_HD float fnma(float a, float b, float c) { return fma(-a, b, c); }
/// b - s a.
template <class T>
TARN_HD Vec3<T> fnma(const T& s, const Vec3<T>& a, const Vec3<T>& b) {
  return {fnma(s, a.x, b.x), fnma(s, a.y, b.y), fnma(s, a.z, b.z)};
}
#if defined(__CUDA_ARCH__)
TARN_HD double acos(double a) { return ::acos(a); }
#else
TARN_HD double acos(double a) { return __builtin_acos(a); }
#endif
/// 1/sqrt(a) from an estimate, by one step of third order: an error of 2^-19 becomes at most two
/// units in the last place.
template <class T>
TARN_HD T refined_rsqrt(const T& a, const T& estimate) {
  const T e = fnma(estimate * estimate, a, T(scalar_t<T>(1)));
  return fma(fma(e, T(scalar_t<T>(0.375)), T(scalar_t<T>(0.5))), estimate * e, estimate);
}
#if defined(__CUDA_ARCH__)
TARN_HD double sqrt(double a) { return __dsqrt_rn(a); }
TARN_HD float sqrt(float a) { return __fsqrt_rn(a); }
/// Accurate to 20 bits, for 1e-300 < a < 1e305.
TARN_HD double approximate_rsqrt(double a) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
  return y;
}
/// Accurate to 2^-22.9; arguments below 1e-38 count as zero.
TARN_HD float approximate_rsqrt(float a) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}
#else
TARN_HD double sqrt(double a) { return __builtin_sqrt(a); }
TARN_HD float sqrt(float a) { return __builtin_sqrtf(a); }
#endif
#if defined(__CUDA_ARCH__) || defined(TARN_ESTIMATES)
/// Like ::rsqrt() without its branch for special numbers, which would prevent a thread from
/// overlapping several roots. Valid for 1e-300 < a < 1e305; NaN for 0.
TARN_HD double rsqrt(double a) { return refined_rsqrt(a, approximate_rsqrt(a)); }
/// One instruction; rsqrtf() takes four.
TARN_HD float rsqrt(float a) { return approximate_rsqrt(a); }
#else
TARN_HD double rsqrt(double a) { return 1.0 / sqrt(a); }
TARN_HD float rsqrt(float a) { return 1.0f / sqrt(a); }
#endif
template <class T>
TARN_HD T rsqrt(const T& a) {
  return T(1.0) / sqrt(a);
}
/// sqrt(a) for a > 0, accurate to the last bit but one; NaN for a < 0.
template <class T>
TARN_HD T sqrt_of_positive(const T& a) {
  return sqrt(a);
}
/// Correctly rounded sqrt(a), for a = 0 or 1e-30 < a < 1e30.
template <class T>
TARN_HD T sqrt_in_range(const T& a) {
  return sqrt(a);
}
#if defined(__CUDA_ARCH__)
/// Like __fsqrt_rn() without its branch for special numbers, which would prevent a thread from
/// overlapping several roots. Correctly rounded for the estimates that the hardware returns, though
/// not for every estimate within its error bound.
TARN_HD float sqrt_in_range(float a) {
  const float y = rsqrt(a), s = a * y;
  const float root = fma(fma(-s, s, a), 0.5f * y, s);
  return a == 0.0f ? a : root;
}
#endif
/// Input of scaled_rsqrt_cubed(): 1/sqrt(a), for packs only an estimate.
template <class T>
TARN_HD T rsqrt_estimate(const T& a) {
  return rsqrt(a);
}
/// out = s a^(-3/2), from y = rsqrt_estimate(a).
template <int count, class T>
TARN_HD void scaled_rsqrt_cubed(const T (&s)[count], const T (&)[count], const T (&y)[count],
                                T (&out)[count]) {
  TARN_UNROLL(4)
  for (int k = 0; k < count; ++k) out[k] = (s[k] * y[k]) * (y[k] * y[k]);
}

/// Makes the compiler recompute values derived from `a` instead of spilling them; packs overload
/// it.
template <class T>
TARN_HD void forget_what_follows_from(const T&) {}
/// A barrier for the compiler's instruction scheduling.
TARN_HD void end_of_stage() {
#if !defined(__CUDACC__)
  asm volatile("");
#endif
}

/// Makes the compiler reload memory after this point; variables keep their values.
TARN_HD void read_memory_again() {
#if !defined(__CUDACC__)
  asm volatile("" ::: "memory");
#endif
}

template <class T>
TARN_HD T abs(const T& a) {
  return select(a < T(0), -a, a);
}
template <class T>
TARN_HD T max(const T& a, const T& b) {
  return select(a < b, b, a);
}
template <class T>
TARN_HD T min(const T& a, const T& b) {
  return select(b < a, b, a);
}

// --- words and bits ------------------------------------------------------------------------------

/// The 64-bit product of the low 32 bits of a and b.
TARN_HD std::uint64_t multiply_low32(std::uint64_t a, std::uint32_t b) {
  return (a & 0xffffffffu) * b;
}
/// A signed 32-bit integer, given by its bits, rounded to float.
TARN_HD float float_of_int(std::uint32_t a) {
  return static_cast<float>(static_cast<std::int32_t>(a));
}
/// The bits of the integer nearest to a float, ties to even; 2^31 if it is not a signed 32-bit
/// integer.
TARN_HD std::uint32_t nearest_int(float a) {
#if defined(__CUDA_ARCH__)
  return -0x1p31f <= a && a < 0x1p31f ? static_cast<std::uint32_t>(__float2int_rn(a)) : 0x80000000u;
#else
  return -0x1p31f <= a && a < 0x1p31f
             ? static_cast<std::uint32_t>(static_cast<std::int32_t>(__builtin_rintf(a)))
             : 0x80000000u;
#endif
}
/// The integer nearest to a, ties to even; |a| < 2^51.
TARN_HD std::int64_t nearest_int64(double a) {
  constexpr double kOnes = 0x1.8p52;  // doubles of this size are integers
  return static_cast<std::int64_t>((a + kOnes) - kOnes);
}
/// The bits of a float, and the inverse.
TARN_HD std::uint32_t bits_of(float a) {
  std::uint32_t r;
  std::memcpy(&r, &a, sizeof(r));
  return r;
}
TARN_HD float float_of_bits(std::uint32_t a) {
  float r;
  std::memcpy(&r, &a, sizeof(r));
  return r;
}
/// Arithmetic shift a >> n.
TARN_HD std::uint32_t shift_right_signed(std::uint32_t a, int n) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> n);
}

}  // namespace tarn::inline TARN_ARCH
