#pragma once

#include "slow_manifold.hpp"

/// @file
/// An explicit method with step-size control, for reference solutions.

namespace tarn::papers {

/// The pair of orders 5 and 4 of Dormand & Prince (1980) for x' = v, v' = -M⁻¹ grad V(x), equation
/// (66). A step is accepted if the estimated error of every coordinate and velocity y is below
/// max(relative |y|, absolute).
class DormandPrince {
 public:
  DormandPrince(const MechanicalSystem& system, double relative, double absolute)
      : system_(system), relative_(relative), absolute_(absolute) {}

  /// Advances by `time` > 0. The step size is kept between calls.
  /// @throws NumericalError if no step is small enough
  void advance(Vector& x, Vector& v, double time);
  /// Number of accelerations computed so far.
  std::int64_t evaluations() const { return evaluations_; }

 private:
  const MechanicalSystem& system_;
  double relative_, absolute_;
  double step_ = 0.0;  ///< 0: none yet
  std::int64_t evaluations_ = 0;
};

/// Steps of length h by DormandPrince, with an absolute tolerance of a thousandth of the relative
/// one. The first ones begin with a projection onto the slow manifold.
class AdaptiveSteps : public FreeMethod {
 public:
  AdaptiveSteps(const MechanicalSystem& system, const Constraint& constraint, double omega,
                double tolerance, std::int64_t projections, double relative, double h)
      : FreeMethod(system, h),
        constraint_(constraint),
        omega_(omega),
        tolerance_(tolerance),
        projections_(projections),
        pair_(system_, relative, 1e-3 * relative) {}
  void step(State& s) override;

 private:
  const Constraint& constraint_;
  double omega_, tolerance_;
  std::int64_t projections_;
  DormandPrince pair_;
};

}  // namespace tarn::papers
