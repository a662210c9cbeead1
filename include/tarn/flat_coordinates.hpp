#pragma once

#include <algorithm>
#include <cstddef>

#include "tarn/physics/triple.hpp"

/// @file
/// Molecules in flat arrays with nine coordinates each, the layout of State.

namespace tarn::inline TARN_ARCH {

/// The atoms of the molecule whose nine coordinates start at `p`.
inline Triple<double> load_molecule(const double* p) {
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}
/// Writes the nine coordinates of a molecule to `p`.
inline void store_molecule(const Triple<double>& t, double* p) {
  const double c[9] = {t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z};
  std::copy(c, c + 9, p);
}

/// The same for molecule number `molecule` of an array.
inline Triple<double> molecule_at(const double* coordinates, std::size_t molecule) {
  return load_molecule(coordinates + 9 * molecule);
}
inline void put_molecule(const Triple<double>& t, double* coordinates, std::size_t molecule) {
  store_molecule(t, coordinates + 9 * molecule);
}

}  // namespace tarn::inline TARN_ARCH
