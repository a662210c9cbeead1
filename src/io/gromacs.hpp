#pragma once

#include <algorithm>
#include <span>

#include "tarn/core/units.hpp"

/// @file
/// Common properties of GROMACS files.

namespace tarn::io {

inline constexpr double kAngstromPerNm = 10.0;
inline constexpr double kAngstromPerAkmaPerNmPerPs = kAngstromPerNm * units::picoseconds_per_akma;

/// Whether box vectors describe a box; for clusters all are zero.
inline bool is_box(std::span<const double> vectors_nm) {
  return std::ranges::any_of(vectors_nm, [](double length) { return length != 0.0; });
}

}  // namespace tarn::io
