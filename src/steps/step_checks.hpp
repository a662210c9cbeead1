#pragma once

#include "step_parameters.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// The check of the end of a step.

namespace tarn {
inline namespace TARN_ARCH {

/// Whether a molecule has blown up: its velocities are too large or NaN.
/// @param largest_speed2 [A^2/akma^2]; of modes of P beads, P times as large
template <class T>
TARN_HD mask_t<T> is_too_fast(const Triple<T>& v, double largest_speed2 = kLargestSpeed2) {
  const T one(scalar_t<T>(1)), largest(static_cast<scalar_t<T>>(largest_speed2));
  return !(weighted_norm2(one, one, v) < largest);
}

}  // namespace TARN_ARCH
}  // namespace tarn
