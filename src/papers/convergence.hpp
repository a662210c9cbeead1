#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tarn/core/error.hpp"

/// @file
/// Convergence of the iterations of implicit methods, and the Runge-Kutta step of all systems.

namespace tarn::papers {

inline constexpr int kMostIterations = 60;
/// Relative change below which an iteration has converged.
inline constexpr double kRoundOff = 2e-15;

/// @param what subject of the message
/// @param change last relative change
[[noreturn]] inline void throw_not_converged(
    const char* what, double change, const char* iterations = "iterations of Newton's method") {
  throw NumericalError(std::string(what) + " did not converge in " +
                       std::to_string(kMostIterations) + " " + iterations +
                       "; the last relative change was " + three_digits(change) +
                       ". A smaller step may help");
}

/// A change relative to a size, which may be 0.
inline double relative(double change, double size) {
  return change / std::max(size, std::numeric_limits<double>::min());
}

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

}  // namespace tarn::papers
