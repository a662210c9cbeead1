#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "system.hpp"
#include "tarn/core/error.hpp"

/// @file
/// What methods share: their costs in evaluations, the convergence of their iterations, and the
/// Runge-Kutta step.

namespace tarn::papers {

/// Evaluations by the start and all steps so far. Those that a method reuses in its next step count
/// once.
struct Costs {
  std::int64_t steps = 0;
  /// Gradients of V; for systems on manifolds right-hand sides or torques.
  std::int64_t forces = 0;
  /// Hessians of V or its stiff part; for VariationalOf derivatives of right-hand sides.
  std::int64_t hessians = 0;
  std::int64_t third_derivatives = 0;  ///< V‴[a, a]
  std::int64_t linear_solves = 0;
  /// Iterations of Newton's method, of sweeps, or of projections onto the slow manifold.
  std::int64_t iterations = 0;

  friend bool operator==(const Costs&, const Costs&) = default;
  friend Costs operator+(const Costs& a, const Costs& b) {
    return {a.steps + b.steps,
            a.forces + b.forces,
            a.hessians + b.hessians,
            a.third_derivatives + b.third_derivatives,
            a.linear_solves + b.linear_solves,
            a.iterations + b.iterations};
  }
};

/// Forwards to a system and counts its evaluations.
class CountedSystem final : public MechanicalSystem {
 public:
  /// Both must outlive this.
  CountedSystem(const MechanicalSystem& system, Costs& costs)
      : MechanicalSystem(system.masses()), system_(system), costs_(costs) {}

  double potential(const Vector& q) const override { return system_.potential(q); }
  Vector gradient(const Vector& q) const override {
    ++costs_.forces;
    return system_.gradient(q);
  }
  Sparsity sparsity() const override { return system_.sparsity(); }
  void add_hessian(const Vector& q, double factor, BandMatrix& a, Hessian kind) const override {
    ++costs_.hessians;
    system_.add_hessian(q, factor, a, kind);
  }
  Vector third_derivative(const Vector& q, const Vector& a) const override {
    ++costs_.third_derivatives;
    return system_.third_derivative(q, a);
  }

 private:
  const MechanicalSystem& system_;
  Costs& costs_;
};

// --- convergence and steps of all systems --------------------------------------------------------

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

/// The largest absolute value.
inline double size_of(const Vector& v) { return v.lpNorm<Eigen::Infinity>(); }

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
