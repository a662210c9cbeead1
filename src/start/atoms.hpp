#pragma once

#include "tarn/physics/triple.hpp"

namespace tarn::start {

/// The atoms of one molecule in a list of coordinates, and back.
inline Triple<double> load(const double* p) {
  return {{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}};
}
inline void store(const Triple<double>& t, double* p) {
  const double c[9] = {t.o.x, t.o.y, t.o.z, t.h1.x, t.h1.y, t.h1.z, t.h2.x, t.h2.y, t.h2.z};
  for (int i = 0; i < 9; ++i) p[i] = c[i];
}

}  // namespace tarn::start
