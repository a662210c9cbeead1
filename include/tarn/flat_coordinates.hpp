#pragma once

#include <algorithm>
#include <cstddef>

#include "tarn/physics/triple.hpp"

/// @file
/// Molecules in flat arrays of nine numbers each, as State has them.

namespace tarn {
inline namespace TARN_ARCH {

inline Triple<double> molecule_at(const double* coordinates, std::size_t molecule) {
  const double* p = coordinates + 9 * molecule;
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}
inline void put_molecule(const Triple<double>& t, double* coordinates, std::size_t molecule) {
  const double c[9] = {t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z};
  std::copy(c, c + 9, coordinates + 9 * molecule);
}

}  // namespace TARN_ARCH
}  // namespace tarn
