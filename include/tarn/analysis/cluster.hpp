#pragma once

#include <span>

namespace tarn::analysis {

/// Shape and bonding of one cluster.
struct ClusterShape {
  /// Root mean square distance of the molecules' oxygens from their centre [A].
  double radius_of_gyration_A = 0.0;
  /// Pairs O-H...O with O-O below 3.5 A and the angle H-O...O below 30 degrees (Luzar & Chandler
  /// 1996); a pair of molecules counts once for each hydrogen that bonds them.
  int hydrogen_bonds = 0;
  /// The largest of the distances from each oxygen to its nearest other one [A]: a molecule that
  /// has left the cluster shows here. 0 for a single molecule.
  double farthest_neighbour_A = 0.0;
};

/// @param positions_A [molecule][9], atoms O H H
ClusterShape cluster_shape(std::span<const double> positions_A);

}  // namespace tarn::analysis
