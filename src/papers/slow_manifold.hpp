#pragma once

#include <vector>

#include "methods.hpp"

/// @file
/// Slow points of stiff systems, integration on the slow manifold, and reference solutions with
/// step-size control. AST is Ariel, Sanz-Serna & Tsai 2012.

namespace tarn::papers {

/// The slow manifold of a system with a penalty of strength omega.
struct SlowManifold {
  const Constraint& constraint;
  double omega;
  double tolerance;  ///< change of g and its rate at which a projection stops
};

/// One iterate of the projection.
struct SlowIterate {
  Vector x, v;
  Vector g, g_rate;
};

/// The iterative projection algorithm IPA, AST 3.2 and 5.2, equation (48). Each iteration
/// integrates to both sides with 18 Verlet steps of (2π/omega)/6 and averages with a cubic kernel.
/// @param system with the penalty
/// @return the iterates, from the input to the slow point
/// @throws NumericalError if they do not settle
std::vector<SlowIterate> project_onto(const SlowManifold& manifold, const MechanicalSystem& system,
                                      const Vector& x, const Vector& v);

/// The classical Runge-Kutta method with every stage projected onto the slow manifold, AST 6.5.
/// Stages start from P z_n, not from z_n: equation (48).
class ProjectedRk4 : public Rk4 {
 public:
  ProjectedRk4(const MechanicalSystem& system, double h, const SlowManifold& manifold)
      : Rk4(system, h), manifold_(manifold) {}

 private:
  void project(Vector& x, Vector& v) override;
  SlowManifold manifold_;
};

/// The pair of orders 5 and 4 of Dormand & Prince (1980) for x' = v, v' = -M⁻¹ grad V(x), equation
/// (66), with as many inner steps in each step as the tolerance needs. An inner step is accepted if
/// the estimated error of every coordinate and velocity y is below max(relative |y|, absolute). Its
/// length is kept from step to step.
/// A step throws NumericalError if no inner step is small enough.
class DormandPrince : public FreeMethod {
 public:
  DormandPrince(const MechanicalSystem& system, double h, double relative, double absolute)
      : FreeMethod(system, h), relative_(relative), absolute_(absolute) {}

 protected:
  void advance(State& s) override;

 private:
  double relative_, absolute_;
  double step_ = 0.0;  ///< 0: none yet
};

/// DormandPrince with an absolute tolerance of a thousandth of the relative one. The first steps
/// begin with a projection onto the slow manifold.
class AdaptiveSteps : public DormandPrince {
 public:
  AdaptiveSteps(const MechanicalSystem& system, double h, const SlowManifold& manifold,
                std::int64_t projections, double relative)
      : DormandPrince(system, h, relative, 1e-3 * relative),
        manifold_(manifold),
        projections_(projections) {}

 private:
  void advance(State& s) override;
  SlowManifold manifold_;
  std::int64_t projections_;
};

}  // namespace tarn::papers
