#pragma once

#include <utility>

namespace tarn::mechanics {

/// A step of the classical Runge-Kutta method for x' and v' = rates(x, v).
/// @param first rates(x, v) at the start of the step
/// @param rates (x, v) -> pair of X and V
template <class X, class V, class Rates>
void runge_kutta_step(double h, const std::pair<X, V>& first, const Rates& rates, X& x, V& v) {
  const auto stage = [&](double length, const std::pair<X, V>& d) {
    return rates(X(x + length * d.first), V(v + length * d.second));
  };
  const std::pair<X, V> second = stage(0.5 * h, first);
  const std::pair<X, V> third = stage(0.5 * h, second);
  const std::pair<X, V> fourth = stage(h, third);
  x += h / 6.0 * (first.first + 2.0 * second.first + 2.0 * third.first + fourth.first);
  v += h / 6.0 * (first.second + 2.0 * second.second + 2.0 * third.second + fourth.second);
}

}  // namespace tarn::mechanics
