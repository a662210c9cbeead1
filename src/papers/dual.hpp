#pragma once

#include <array>
#include <cstddef>

namespace tarn::papers {

/// A number with its derivatives in K directions: forward-mode automatic differentiation of
/// polynomials and quotients.
template <std::size_t K>
struct Dual {
  double value = 0.0;
  std::array<double, K> d{};

  Dual() = default;
  Dual(double v) : value(v) {}

  friend Dual operator+(Dual a, const Dual& b) { return a.add(1.0, b); }
  friend Dual operator-(Dual a, const Dual& b) { return a.add(-1.0, b); }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r(a.value * b.value);
    for (std::size_t k = 0; k < K; ++k) r.d[k] = a.d[k] * b.value + a.value * b.d[k];
    return r;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    Dual r(a.value / b.value);
    for (std::size_t k = 0; k < K; ++k) r.d[k] = (a.d[k] - r.value * b.d[k]) / b.value;
    return r;
  }

 private:
  Dual& add(double factor, const Dual& b) {
    value += factor * b.value;
    for (std::size_t k = 0; k < K; ++k) d[k] += factor * b.d[k];
    return *this;
  }
};

}  // namespace tarn::papers
