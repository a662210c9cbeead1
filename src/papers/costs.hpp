#pragma once

#include <cstdint>

#include "system.hpp"

/// @file
/// Cost of methods, in evaluations.

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

}  // namespace tarn::papers
