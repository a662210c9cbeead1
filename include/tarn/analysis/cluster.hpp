#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tarn/physics/measured.hpp"
#include "tarn/physics/parameters.hpp"

namespace tarn::analysis {

/// A hydrogen bond O-H...O, with r_OO < 3.5 A and an angle H-O...O below 30 degrees (Luzar &
/// Chandler 1996), equation (39).
struct HydrogenBond {
  int donor = 0, acceptor = 0;  ///< molecules
  int hydrogen = 1;             ///< of the donor, 1 or 2
};

/// All hydrogen bonds, sorted by donor, acceptor and hydrogen.
/// @param positions_A [molecule][9], atoms O H H
std::vector<HydrogenBond> hydrogen_bonds(std::span<const double> positions_A);

/// Shape, bonding and dipole moments of one cluster.
/// @param positions_A [molecule][9], atoms O H H
/// @param dipole_charge_e WaterModel::dipole_charge_e()
ClusterMeasures cluster_measures(std::span<const double> positions_A, double dipole_charge_e,
                                 const ClusterMasses& masses);

/// Shape and bonding of one cluster, equation (39).
struct ClusterShape {
  /// Root mean square distance of the oxygens from their centre [A].
  double radius_of_gyration_A = 0.0;
  /// Number of bonds; each hydrogen is counted separately.
  int hydrogen_bonds = 0;
  /// Largest distance from an oxygen to its nearest neighbour oxygen [A]; large if a molecule has
  /// evaporated. 0 for a single molecule.
  double farthest_neighbour_A = 0.0;
};

/// @param positions_A [molecule][9], atoms O H H
ClusterShape cluster_shape(std::span<const double> positions_A);

/// Default linking distance of the oxygens of a cluster [A]. At this distance two dipoles of 2.35 D
/// attract each other by at most 0.3 kcal/mol, half of kT at 298 K. An evaporated molecule crosses
/// a few angstroms per picosecond.
inline constexpr double kLink_A = 8.0;

/// Molecules outside the largest connected fragment; oxygens closer than `link_A` are connected. Of
/// fragments of equal size the one with the first molecule is the largest.
/// @param positions_A [molecule][9]
/// @return sorted indices; empty if the cluster is connected
std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A);
/// The first evaporated molecule.
std::optional<int> first_evaporated_molecule(std::span<const double> positions_A, double link_A);

/// Electric dipole moments of one cluster of neutral molecules, equation (28).
struct ClusterDipole {
  double cluster_D = 0.0;   ///< length of the sum over the molecules [debye]
  double molecule_D = 0.0;  ///< mean length of the moment of a molecule [debye]
};

/// @param positions_A [molecule][9], atoms O H H
/// @param dipole_charge_e WaterModel::dipole_charge_e()
ClusterDipole cluster_dipole(std::span<const double> positions_A, double dipole_charge_e);

/// Lindemann index of the oxygen-oxygen distances of one cluster, accumulated sample by sample:
///   delta = 2/(N(N-1)) sum over pairs of sqrt(<r^2> - <r>^2) / <r>
/// (Berry, Beck, Davis & Jellinek 1988; equation (29)): below 0.1 for a solid-like cluster, 0.2 or
/// more for a liquid-like one. Memory: two numbers per pair of molecules.
class LindemannIndex {
 public:
  /// Largest number of pairs of all indices of a program; each takes 16 bytes, also in checkpoints.
  static constexpr std::int64_t kMostPairs = 10'000'000;

  /// @param positions_A [molecule][9]; the number of molecules must not change
  void add(std::span<const double> positions_A);
  /// NaN for fewer than two samples or molecules.
  double value() const;

  /// The state for a checkpoint.
  struct Memory {
    std::int64_t samples = 0;
    std::vector<double> means_A;     ///< <r> of each pair (0,1), (0,2), (1,2), (0,3), ...
    std::vector<double> squares_A2;  ///< sum of (r - <r>)^2
  };
  const Memory& memory() const { return memory_; }
  /// @param memory of the same number of molecules as in add()
  void restore(Memory memory) { memory_ = std::move(memory); }

 private:
  Memory memory_;
};

}  // namespace tarn::analysis
