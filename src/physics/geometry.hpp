#pragma once

#include "tarn/core/units.hpp"
#include "tarn/physics/measured.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// Bond lengths and angles of the molecules of a cluster, as sums, minima and maxima.

namespace tarn::inline TARN_ARCH {

/// What a molecule adds to the numbers of its cluster: three sums, a minimum and a maximum.
struct GeometryTerm {
  enum Number { kOH, kHH, kAngle, kSums, kShortest = kSums, kLongest, kNumbers };
};

/// Angle between two vectors [rad]. @param lengths product of their lengths
template <class T>
TARN_HD T angle_between(const T& dot_product, const T& lengths) {
  return acos(max(T(-1.0), min(T(1.0), dot_product / lengths)));
}

template <class T>
TARN_HD void geometry_terms(const Triple<T>& q, T (&out)[GeometryTerm::kNumbers]) {
  const Vec3<T> d1 = q.h1 - q.o, d2 = q.h2 - q.o;
  const T oh1 = sqrt(norm2(d1)), oh2 = sqrt(norm2(d2));
  out[GeometryTerm::kOH] = T(0.5) * (oh1 + oh2);
  out[GeometryTerm::kHH] = sqrt(norm2(q.h1 - q.h2));
  out[GeometryTerm::kAngle] = angle_between(dot(d1, d2), oh1 * oh2);
  out[GeometryTerm::kShortest] = min(oh1, oh2);
  out[GeometryTerm::kLongest] = max(oh1, oh2);
}

/// Combines two sets of numbers.
template <class T>
TARN_HD void add_geometry(const T (&from)[GeometryTerm::kNumbers],
                          T (&to)[GeometryTerm::kNumbers]) {
  for (int k = 0; k < GeometryTerm::kSums; ++k) to[k] = to[k] + from[k];
  to[GeometryTerm::kShortest] = min(to[GeometryTerm::kShortest], from[GeometryTerm::kShortest]);
  to[GeometryTerm::kLongest] = max(to[GeometryTerm::kLongest], from[GeometryTerm::kLongest]);
}

/// From the numbers of all molecules to the row of a replica.
TARN_HD MoleculeGeometry molecule_geometry(const double (&all)[GeometryTerm::kNumbers],
                                           int molecules) {
  const double n = molecules;
  return {all[GeometryTerm::kOH] / n, all[GeometryTerm::kHH] / n,
          all[GeometryTerm::kAngle] / n * (180.0 / units::pi), all[GeometryTerm::kShortest],
          all[GeometryTerm::kLongest]};
}

}  // namespace tarn::inline TARN_ARCH
