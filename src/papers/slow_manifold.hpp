#pragma once

#include <vector>

#include "methods.hpp"

/// @file
/// Slow points of stiff systems, and integration on the slow manifold. AST is Ariel, Sanz-Serna &
/// Tsai 2012.

namespace tarn::papers {

/// One iterate of the projection.
struct SlowIterate {
  Vector x, v;
  Vector g, g_rate;
};

/// The iterative projection algorithm IPA, AST 3.2 and 5.2, equation (48). Each iteration
/// integrates to both sides with 18 Verlet steps of (2π/omega)/6 and averages with a cubic kernel,
/// until g and its rate change by less than `tolerance`.
/// @param system with the penalty for this omega
/// @return the iterates, from the input to the slow point
/// @throws NumericalError if they do not settle
std::vector<SlowIterate> project_onto_slow_manifold(const MechanicalSystem& system,
                                                    const Constraint& constraint, double omega,
                                                    const Vector& x, const Vector& v,
                                                    double tolerance);

/// The classical Runge-Kutta method with every stage projected onto the slow manifold, AST 6.5.
/// Stages start from P z_n, not from z_n: equation (48).
class ProjectedRk4 : public Rk4 {
 public:
  ProjectedRk4(const MechanicalSystem& system, const Constraint& constraint, double omega,
               double tolerance, double h)
      : Rk4(system, h), constraint_(constraint), omega_(omega), tolerance_(tolerance) {}

 private:
  void project(Vector& x, Vector& v) override;

  const Constraint& constraint_;
  double omega_, tolerance_;
};

}  // namespace tarn::papers
