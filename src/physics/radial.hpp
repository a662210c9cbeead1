#pragma once

#include <cstdint>

#include "tarn/core/host_device.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// Atoms in spherical shells about the centre of mass of a cluster, equation (38). All sums are of
/// integers, so they do not depend on their order.

namespace tarn::inline TARN_ARCH {

/// Shells of equal width on [0, r_max).
struct RadialShells {
  double r_max_A;
  int bins;

  /// The shell at a distance, or -1 if there is none or the distance is not a number.
  TARN_HD int at(double r_A) const {
    if (!(r_A < r_max_A)) return -1;
    const int bin = static_cast<int>(r_A * (bins / r_max_A));
    return bin < bins ? bin : -1;
  }
};

/// Cosines are counted in units of 2^-40.
inline constexpr double kCosineUnit = 1.0 / (std::int64_t{1} << 40);

/// Where the atoms of a molecule are.
struct RadialTerm {
  int oxygen, hydrogens[2];  ///< shells, or -1
  /// Cosine of the angle between the dipole and the outward direction, in units of 2^-40.
  std::int64_t cosine;
};

/// @param centre of mass of the cluster [A]
TARN_HD RadialTerm radial_term(const Triple<double>& q, const Vec3<double>& centre,
                               const RadialShells& shells) {
  const Vec3<double> out = q.o - centre;
  const double r = sqrt(norm2(out));
  RadialTerm term;
  term.oxygen = shells.at(r);
  term.hydrogens[0] = shells.at(sqrt(norm2(q.h1 - centre)));
  term.hydrogens[1] = shells.at(sqrt(norm2(q.h2 - centre)));
  const Vec3<double> dipole = (q.h1 - q.o) + (q.h2 - q.o);
  const double lengths = r * sqrt(norm2(dipole));
  const bool counts = term.oxygen >= 0 && lengths > 0.0 && lengths < 1e300;
  term.cosine = counts ? nearest_int64(dot(dipole, out) / lengths / kCosineUnit) : 0;
  return term;
}

inline constexpr int kMomentLanes = 32;

TARN_HD constexpr int moment_lane(std::int64_t replica_id, int groups) {
  return static_cast<int>(replica_id / groups % kMomentLanes);
}

/// Sums of one number x over replicas, relative to a pivot p close to its mean, and of its product
/// with another number y, relative to a pivot of its own.
struct MomentSums {
  double sum = 0.0;      ///< of x - p
  double square = 0.0;   ///< of (x - p)^2
  double product = 0.0;  ///< of (x - p)(y - q)

  TARN_HD void add(double x_off, double y_off) {
    sum += x_off;
    square += x_off * x_off;
    product += x_off * y_off;
  }
  TARN_HD void add(const MomentSums& other) {
    sum += other.sum;
    square += other.square;
    product += other.product;
  }
};

}  // namespace tarn::inline TARN_ARCH
