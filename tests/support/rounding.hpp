#pragma once

#include <cmath>

/// @file
/// Bounds on rounding errors.

namespace tarn::test {

inline constexpr double kEpsilon = 0x1p-53;       ///< unit roundoff of double
inline constexpr double kFloatEpsilon = 0x1p-24;  ///< unit roundoff of float

/// 4.5 standard deviations of the sum of independent roundings of numbers of a size, uniform within
/// the unit roundoff. Only roundings that persist count: updates of the state, not quantities that
/// are recomputed from it.
inline double rounding(double steps, double roundings_per_step, double size = 1.0) {
  return 4.5 * kEpsilon * size * std::sqrt(steps * roundings_per_step / 3.0);
}

/// Largest rounding error of ten operations on a number of a size: for closed forms, and for
/// numbers that were written with all bits and read back.
inline constexpr double few_roundings(double size = 1.0) { return 10.0 * kEpsilon * size; }

/// Error of a length within a molecule due to rounded coordinates [A]. Coordinates up to 8 A are
/// rounded to 0.9e-15 A when stored; a length has two in each of three directions, and the frame in
/// which it was placed as many. Measured errors are at most a third of it.
inline constexpr double length_rounding_A(double farthest_A = 8.0) {
  return 6e-15 * farthest_A / 8.0;
}

/// Error of a number that is printed with six decimals; minima are accurate to 1e-12.
inline constexpr double kSixDecimals = 0.5001e-6;

}  // namespace tarn::test
