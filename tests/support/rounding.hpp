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

}  // namespace tarn::test
