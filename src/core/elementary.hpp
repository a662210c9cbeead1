#pragma once

#include <cstdint>
#include <cstring>

#include "pack.hpp"
#include "tarn/core/number.hpp"

/// @file
/// Elementary functions without branches or tables, from additions and multiplications only, for
/// all number types. Their rounding errors are a few units in the last place.

namespace tarn::inline TARN_ARCH {

namespace detail {

/// c[0] + c[1] u + c[2] u^2 + ..., even and odd powers side by side to hide the latency of the
/// multiplications.
template <int count, class T>
TARN_HD T polynomial(const double (&c)[count], const T& u) {
  const auto constant = [&](int k) { return T(static_cast<scalar_t<T>>(c[k])); };
  const T u2 = u * u;
  T high = constant(count - 1), low = constant(count - 2);
  TARN_UNROLL(10)
  for (int k = count - 3; k > 0; k -= 2) {
    high = fma(high, u2, constant(k));
    low = fma(low, u2, constant(k - 1));
  }
  if constexpr (count % 2 == 0) return fma(high, u, low);
  return fma(fma(high, u, low), u, constant(0));
}

}  // namespace detail

/// arctan(t) for |t| <= 1, by a minimax polynomial of t^2 with a relative error of 3e-17.
template <class T>
TARN_HD T atan_of_unit_interval(const T& t) {
  constexpr double kCoefficients[] = {
      1.0,
      -0.3333333333333111,
      0.19999999999696305,
      -0.1428571426919598,
      0.11111110634348093,
      -0.09090900647521918,
      0.07692207607733503,
      -0.06665825846053625,
      0.05877142311265142,
      -0.052386338760711505,
      0.04672287450666691,
      -0.04089076514170406,
      0.03400871700253783,
      -0.025751134209147125,
      0.016904026628719017,
      -0.009130304732225852,
      0.0038271354140193116,
      -0.0011535794877192815,
      0.00022068609216426843,
      -2.001848455531021e-05,
  };
  return t * detail::polynomial(kCoefficients, t * t);
}

/// The angle in [-pi/2, pi/2] with this sine, and this cosine >= 0.
template <class T>
TARN_HD T angle_of(const T& sine, const T& cosine) {
  const T half = atan_of_unit_interval(sine / (T(scalar_t<T>(1)) + cosine));
  return half + half;
}

/// The largest argument of expm1_below_limit().
inline constexpr double kExpm1Limit = 11.0;

/// exp(x) - 1 for x <= kExpm1Limit; -1 from x = -44 on, where it differs from that by less than
/// rounding. The argument is divided by 32, and exp(2y) - 1 = q (q + 2) with q = exp(y) - 1 doubles
/// it five times; below -kExpm1Limit it is divided by 128 and doubled seven times.
template <class T>
TARN_HD T expm1_below_limit(const T& x) {
  constexpr double kCoefficients[] = {
      1.0,
      0.5000000000000006,
      0.1666666666666657,
      0.041666666666579776,
      0.008333333333393802,
      0.0013888888930184064,
      0.0001984126971376195,
      2.4801507261677424e-05,
      2.7557411810957993e-06,
      2.7625144666513596e-07,
      2.505206709206821e-08,
  };
  using S = scalar_t<T>;
  const T limit = T(static_cast<S>(kExpm1Limit)), lowest = T(static_cast<S>(-4.0 * kExpm1Limit));
  const auto is_low = x < -limit;
  const T part = select(is_low, T(static_cast<S>(1.0 / 128.0)), T(static_cast<S>(1.0 / 32.0)));
  const T y = part * max(lowest, min(limit, x));
  T q = y * detail::polynomial(kCoefficients, y);
  TARN_UNROLL(5)
  for (int k = 0; k < 5; ++k) q = fma(q, q, q + q);
  T low = fma(q, q, q + q);
  low = fma(low, low, low + low);
  return select(is_low, low, q);
}

namespace detail {

/// p 2^n, from shifted = n + 0x1.8p52.
TARN_HD double times_power_of_two(double p, double shifted) {
  std::uint64_t bits, n;
  std::memcpy(&bits, &p, sizeof(bits));
  std::memcpy(&n, &shifted, sizeof(n));
  bits += n << 52;
  std::memcpy(&p, &bits, sizeof(bits));
  return p;
}
#if !defined(__CUDACC__)
TARN_HD Pack<double> times_power_of_two(const Pack<double>& p, const Pack<double>& shifted) {
  using Bits = Pack<std::uint64_t>::Native;
  return {reinterpret_cast<Pack<double>::Native>(reinterpret_cast<Bits>(p.v) +
                                                 (reinterpret_cast<Bits>(shifted.v) << 52))};
}
#endif

/// 1, 1/n(1), 1/(n(1) n(2)), ...
template <int count>
struct Series {
  double c[count];

  TARN_HD constexpr explicit Series(double (*n)(int)) : c{1.0} {
    for (int k = 1; k < count; ++k) c[k] = c[k - 1] / n(k);
  }
};

}  // namespace detail

/// exp(x); x beyond -700 to 700 counts as that.
template <class T>
TARN_HD T exponential(const T& x) {
  constexpr detail::Series<14> kSeries([](int k) -> double { return k; });
  constexpr double kInteger = 0x1.8p52;  // doubles of this size are integers
  const T limited = max(T(-700.0), min(T(700.0), x));
  const T shifted = fma(limited, T(1.4426950408889634), T(kInteger));
  const T n = shifted - T(kInteger);
  const T rest =  // x - n log 2, in two parts
      fnma(n, T(1.90821492927058770002e-10), fnma(n, T(6.93147180369123816490e-01), limited));
  return detail::times_power_of_two(detail::polynomial(kSeries.c, rest), shifted);
}

}  // namespace tarn::inline TARN_ARCH
