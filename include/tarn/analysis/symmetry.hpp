#pragma once

#include <span>

namespace tarn::analysis {

/// How many operations map a cluster onto itself, and how many of them are rotations, the identity
/// among them: its symmetry number. Where all are, the cluster is chiral.
struct PointGroup {
  int order = 0, rotations = 0;
};
/// @param positions_A [molecule][9], atoms O H H; not all on a line
/// @param tolerance_A how far an image may be from its atom
PointGroup point_group(std::span<const double> positions_A, double tolerance_A = 0.01);

/// Order of the point group of a cluster: how many rotations, reflections and improper rotations
/// about its centre map every atom onto one of the same element. With h of them a minimum of N
/// molecules has 2 N! 2^N / h copies in space, those with molecules or hydrogens exchanged and
/// their mirror images, so that its share of the classical partition function goes as 1/h, equation
/// (62).
inline int symmetry_order(std::span<const double> positions_A, double tolerance_A = 0.01) {
  return point_group(positions_A, tolerance_A).order;
}

}  // namespace tarn::analysis
