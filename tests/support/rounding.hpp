#pragma once

#include <cmath>

/// @file
/// What roundings come to.

namespace tarn::test {

inline constexpr double kEpsilon = 0x1p-53;       ///< unit roundoff of double
inline constexpr double kFloatEpsilon = 0x1p-24;  ///< unit roundoff of float

/// 4.5 standard deviations of what roundings of numbers of that size add up to, each by itself and
/// uniform within the unit roundoff. The counts are those of the operations whose roundings stay:
/// updates of the state, and not what is computed from it anew.
inline double rounding(double steps, double roundings_a_step, double size = 1.0) {
  return 4.5 * kEpsilon * size * std::sqrt(steps * roundings_a_step / 3.0);
}

/// The most that ten operations leave of a number of that size: of closed forms, and of what was
/// read back from where all bits are written.
inline constexpr double few_roundings(double size = 1.0) { return 10.0 * kEpsilon * size; }

/// What rounded coordinates leave of a length within a molecule [A]. Those up to 8 A are rounded to
/// 0.9e-15 A when they are stored; a length has two in each of three directions, and the frame that
/// it was placed in as many again. Measured are a third of it at most.
inline constexpr double length_rounding_A(double farthest_A = 8.0) {
  return 6e-15 * farthest_A / 8.0;
}

/// Of a number that is told to six decimals; a minimum is known to 1e-12 besides.
inline constexpr double kSixDecimals = 0.5001e-6;

}  // namespace tarn::test
