#pragma once

#include <span>

namespace tarn::analysis {

/// Number of symmetry operations of a cluster, and of the proper rotations among them, including
/// the identity: the symmetry number. If all are rotations, the cluster is chiral.
struct PointGroup {
  int order = 0, rotations = 0;
};
/// @param positions_A [molecule][9], atoms O H H; not all on a line
/// @param tolerance_A largest distance between an atom and its image
PointGroup point_group(std::span<const double> positions_A, double tolerance_A = 0.01);

/// Order h of the point group of a cluster: the number of rotations, reflections and improper
/// rotations around its centre that map every atom onto one of the same element. A minimum of N
/// molecules has 2 N! 2^N / h copies: permutations of molecules and hydrogens, and mirror images.
/// Its contribution to the classical partition function is proportional to 1/h, equation (62).
inline int symmetry_order(std::span<const double> positions_A, double tolerance_A = 0.01) {
  return point_group(positions_A, tolerance_A).order;
}

}  // namespace tarn::analysis
