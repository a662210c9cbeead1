#pragma once

#include <cstdint>

#include "tarn/mechanics/system.hpp"

/// @file
/// An explicit method with control of its step, for solutions that others are measured against.

namespace tarn::mechanics {

/// The pair of orders 5 and 4 of Dormand & Prince (1980) on x' = v, v' = -M⁻¹ grad V(x). A step is
/// taken when the largest estimated error of a coordinate or velocity y is below
/// max(relative |y|, absolute). Equation (66).
class DormandPrince {
 public:
  DormandPrince(const MechanicalSystem& system, double relative, double absolute)
      : system_(system), relative_(relative), absolute_(absolute) {}

  /// Goes on by `time`, forwards; the step is kept from call to call.
  /// @throws NumericalError when no step is short enough
  void advance(Vector& x, Vector& v, double time);
  /// Accelerations computed so far.
  std::int64_t evaluations() const { return evaluations_; }

 private:
  const MechanicalSystem& system_;
  double relative_, absolute_;
  double step_ = 0.0;  ///< 0: none yet
  std::int64_t evaluations_ = 0;
};

}  // namespace tarn::mechanics
