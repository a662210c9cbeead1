#pragma once

#include <array>
#include <cmath>
#include <type_traits>

/// @file
/// Forward-mode dual numbers: a value and its derivatives in N directions. They replace numbers in
/// the formulas of tarn/physics, and can be nested for second derivatives.

namespace tarn::test {

/// @param R number type of the value and of each derivative; a Dual again for a Hessian
/// @param N number of directions; 0 makes it a plain number with the operations of the formulas
template <class R, int N>
struct Dual {
  R value{};
  std::array<R, N> d{};

  Dual() = default;
  template <class U>
  requires std::is_arithmetic_v<U> Dual(U v) : value(static_cast<R>(v)) {}
  Dual(const R& v) requires(!std::is_arithmetic_v<R>) : value(v) {}

  /// The value v of the variable number `direction`.
  static Dual variable(const R& v, int direction) {
    Dual r(v);
    r.d[static_cast<std::size_t>(direction)] = R(1);
    return r;
  }

  friend Dual operator+(const Dual& a, const Dual& b) {
    return combine(a.value + b.value, R(1), a, R(1), b);
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return combine(a.value - b.value, R(1), a, R(-1), b);
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return combine(a.value * b.value, b.value, a, a.value, b);
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const R inverse = R(1) / b.value, q = a.value * inverse;
    return combine(q, inverse, a, -(q * inverse), b);
  }
  friend Dual operator-(const Dual& a) { return chain(-a.value, R(-1), a); }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }

  friend Dual fma(const Dual& a, const Dual& b, const Dual& c) { return a * b + c; }
  friend Dual fnma(const Dual& a, const Dual& b, const Dual& c) { return c - a * b; }
  friend Dual sqrt(const Dual& a) {
    using std::sqrt;
    const R s = sqrt(a.value);
    return chain(s, R(0.5) / s, a);
  }
  friend Dual rsqrt(const Dual& a) {
    using std::sqrt;
    const R y = R(1) / sqrt(a.value);
    return chain(y, R(-0.5) * y / a.value, a);
  }
  friend Dual abs(const Dual& a) { return a.value < R(0) ? -a : a; }
  friend Dual max(const Dual& a, const Dual& b) { return a.value < b.value ? b : a; }
  friend Dual select(bool m, const Dual& yes, const Dual& no) { return m ? yes : no; }

 private:
  /// f(a) from its value and derivative.
  static Dual chain(const R& f, const R& df, const Dual& a) {
    Dual r(f);
    for (std::size_t i = 0; i < N; ++i) r.d[i] = df * a.d[i];
    return r;
  }
  /// f(a, b) from its value and partial derivatives.
  static Dual combine(const R& f, const R& df_da, const Dual& a, const R& df_db, const Dual& b) {
    Dual r(f);
    for (std::size_t i = 0; i < N; ++i) r.d[i] = df_da * a.d[i] + df_db * b.d[i];
    return r;
  }
};

/// A long double for the formulas: the reference with negligible rounding errors.
using Long = Dual<long double, 0>;

}  // namespace tarn::test
