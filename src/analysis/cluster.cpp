#include "tarn/analysis/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tarn::analysis {
namespace {

constexpr double kBondLength_A = 3.5;
const double kBondCosine = std::sqrt(3.0) / 2.0;  // of 30 degrees

double difference(const double* a, const double* b, double* d) {
  double square = 0.0;
  for (int k = 0; k < 3; ++k) {
    d[k] = b[k] - a[k];
    square += d[k] * d[k];
  }
  return std::sqrt(square);
}

/// Hydrogens of the molecule at `donor` that point to the oxygen at `acceptor`.
int donated(const double* donor, const double* acceptor) {
  double oo[3], oh[3];
  const double distance = difference(donor, acceptor, oo);
  if (distance >= kBondLength_A) return 0;
  int bonds = 0;
  for (int h = 1; h <= 2; ++h) {
    const double length = difference(donor, donor + 3 * h, oh);
    const double dot = oo[0] * oh[0] + oo[1] * oh[1] + oo[2] * oh[2];
    if (dot > kBondCosine * distance * length) ++bonds;
  }
  return bonds;
}

}  // namespace

ClusterShape cluster_shape(std::span<const double> positions_A) {
  ClusterShape shape;
  const std::size_t n = positions_A.size() / 9;
  const auto oxygen = [&](std::size_t m) { return &positions_A[9 * m]; };
  double centre[3] = {0.0, 0.0, 0.0}, unused[3], square = 0.0;
  for (std::size_t m = 0; m < n; ++m) {
    for (int k = 0; k < 3; ++k) centre[k] += oxygen(m)[k] / static_cast<double>(n);
  }
  for (std::size_t m = 0; m < n; ++m) {
    const double distance = difference(centre, oxygen(m), unused);
    square += distance * distance;
    double nearest = n > 1 ? INFINITY : 0.0;
    for (std::size_t other = 0; other < n; ++other) {
      if (other == m) continue;
      nearest = std::min(nearest, difference(oxygen(m), oxygen(other), unused));
      shape.hydrogen_bonds += donated(oxygen(m), oxygen(other));
    }
    shape.farthest_neighbour_A = std::max(shape.farthest_neighbour_A, nearest);
  }
  if (n > 0) shape.radius_of_gyration_A = std::sqrt(square / static_cast<double>(n));
  return shape;
}

}  // namespace tarn::analysis
