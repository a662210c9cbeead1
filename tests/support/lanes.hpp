#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tarn/core/number.hpp"

/// @file
/// A warp of 32 lanes as arrays of 32 numbers: warp programs run on them lane by lane, with scalar
/// arithmetic.

namespace tarn::test {

inline constexpr std::size_t kLanes = 32;

struct LaneMask {
  std::array<bool, kLanes> v{};
  friend LaneMask operator&(const LaneMask& a, const LaneMask& b) {
    LaneMask r;
    for (std::size_t i = 0; i < kLanes; ++i) r.v[i] = a.v[i] && b.v[i];
    return r;
  }
  friend LaneMask operator|(const LaneMask& a, const LaneMask& b) {
    LaneMask r;
    for (std::size_t i = 0; i < kLanes; ++i) r.v[i] = a.v[i] || b.v[i];
    return r;
  }
  friend LaneMask operator!(const LaneMask& a) {
    LaneMask r;
    for (std::size_t i = 0; i < kLanes; ++i) r.v[i] = !a.v[i];
    return r;
  }
};
inline bool any(const LaneMask& m) {
  for (bool b : m.v) {
    if (b) return true;
  }
  return false;
}

template <class T>
struct Lanes {
  std::array<T, kLanes> v{};

  Lanes() = default;
  Lanes(T all) { v.fill(all); }
  template <class Op>
  static Lanes of(const Op& op) {
    Lanes r;
    for (std::size_t i = 0; i < kLanes; ++i) r.v[i] = op(i);
    return r;
  }

  friend Lanes operator+(const Lanes& a, const Lanes& b) {
    return of([&](std::size_t i) { return a.v[i] + b.v[i]; });
  }
  friend Lanes operator-(const Lanes& a, const Lanes& b) {
    return of([&](std::size_t i) { return a.v[i] - b.v[i]; });
  }
  friend Lanes operator*(const Lanes& a, const Lanes& b) {
    return of([&](std::size_t i) { return a.v[i] * b.v[i]; });
  }
  friend Lanes operator/(const Lanes& a, const Lanes& b) {
    return of([&](std::size_t i) { return a.v[i] / b.v[i]; });
  }
  friend Lanes operator-(const Lanes& a) {
    return of([&](std::size_t i) { return -a.v[i]; });
  }
  friend LaneMask operator<(const Lanes& a, const Lanes& b) {
    LaneMask r;
    for (std::size_t i = 0; i < kLanes; ++i) r.v[i] = a.v[i] < b.v[i];
    return r;
  }
  friend LaneMask operator>(const Lanes& a, const Lanes& b) { return b < a; }
  friend LaneMask operator==(const Lanes& a, const Lanes& b) {
    LaneMask r;
    for (std::size_t i = 0; i < kLanes; ++i) r.v[i] = a.v[i] == b.v[i];
    return r;
  }
  friend Lanes fma(const Lanes& a, const Lanes& b, const Lanes& c) {
    return of([&](std::size_t i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
  }
  friend Lanes fnma(const Lanes& a, const Lanes& b, const Lanes& c) { return fma(-a, b, c); }
  friend Lanes sqrt(const Lanes& a) {
    return of([&](std::size_t i) { return std::sqrt(a.v[i]); });
  }
  friend Lanes rsqrt(const Lanes& a) {
    return of([&](std::size_t i) { return T(1) / std::sqrt(a.v[i]); });
  }
  friend Lanes operator<<(const Lanes& a, int n) {
    return of([&](std::size_t i) { return a.v[i] << n; });
  }
  friend Lanes shift_right_signed(const Lanes& a, int n) {
    return of([&](std::size_t i) { return tarn::shift_right_signed(a.v[i], n); });
  }
  friend Lanes<float> float_of_int(const Lanes& a) {
    return Lanes<float>::of([&](std::size_t i) { return tarn::float_of_int(a.v[i]); });
  }
  friend Lanes<std::uint32_t> nearest_int(const Lanes& a) {
    return Lanes<std::uint32_t>::of([&](std::size_t i) { return tarn::nearest_int(a.v[i]); });
  }
  friend Lanes select(const LaneMask& m, const Lanes& yes, const Lanes& no) {
    return of([&](std::size_t i) { return m.v[i] ? yes.v[i] : no.v[i]; });
  }
};

}  // namespace tarn::test

namespace tarn {
inline namespace TARN_ARCH {
template <class T>
struct ScalarOf<test::Lanes<T>> {
  using type = T;
};
template <class T>
struct MaskOf<test::Lanes<T>> {
  using type = test::LaneMask;
};
}  // namespace TARN_ARCH
}  // namespace tarn
