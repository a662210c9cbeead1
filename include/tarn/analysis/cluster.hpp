#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tarn::analysis {

/// O-H...O with O-O below 3.5 A and the angle H-O...O below 30 degrees (Luzar & Chandler 1996):
/// equation (39).
struct HydrogenBond {
  int donor = 0, acceptor = 0;  ///< molecules
  int hydrogen = 1;             ///< of the donor, 1 or 2
};

/// All of them, by donor, acceptor and hydrogen.
/// @param positions_A [molecule][9], atoms O H H
std::vector<HydrogenBond> hydrogen_bonds(std::span<const double> positions_A);

/// Shape and bonding of one cluster, equation (39).
struct ClusterShape {
  /// Root mean square distance of the molecules' oxygens from their centre [A].
  double radius_of_gyration_A = 0.0;
  /// Number of them; a pair of molecules counts once for each hydrogen that bonds them.
  int hydrogen_bonds = 0;
  /// The largest of the distances from each oxygen to its nearest other one [A]: a molecule that
  /// has left the cluster shows here. 0 for a single molecule.
  double farthest_neighbour_A = 0.0;
};

/// @param positions_A [molecule][9], atoms O H H
ClusterShape cluster_shape(std::span<const double> positions_A);

/// Oxygens farther than this from all others belong to the cluster no more [A]. Two dipoles of 2.35
/// D at this distance hold each other by at most 0.3 kcal/mol, half of kT at 298 K. A molecule that
/// has left crosses a few angstroms in a picosecond.
inline constexpr double kLink_A = 8.0;

/// The molecules that do not hang together with the largest part of the cluster: parts are oxygens
/// nearer than `link_A` to one another, one after another. Of parts of one size the one with the
/// first molecule counts as the larger.
/// @param positions_A [molecule][9]
/// @return their numbers from 0, rising; none when the cluster is whole
std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A);
/// The first of them.
std::optional<int> first_evaporated_molecule(std::span<const double> positions_A, double link_A);

/// Electric dipole moments of one cluster of neutral molecules, equation (28).
struct ClusterDipole {
  double cluster_D = 0.0;   ///< length of the sum over the molecules [debye]
  double molecule_D = 0.0;  ///< mean length of the moment of a molecule [debye]
};

/// @param positions_A [molecule][9], atoms O H H
/// @param dipole_charge_e WaterModel::dipole_charge_e()
ClusterDipole cluster_dipole(std::span<const double> positions_A, double dipole_charge_e);

/// Fluctuations of the oxygen-oxygen distances of one cluster, gathered sample by sample:
///   delta = 2/(N(N-1)) sum over pairs of sqrt(<r^2> - <r>^2) / <r>
/// (Berry, Beck, Davis & Jellinek 1988; equation (29)): below 0.1 for a solid-like cluster, 0.2 and
/// more for one that is liquid-like. Memory: two numbers a pair of molecules.
class LindemannIndex {
 public:
  /// What a program may remember of all its indices together: 16 bytes a pair, in every checkpoint
  /// too.
  static constexpr std::int64_t kMostPairs = 10'000'000;

  /// @param positions_A [molecule][9]; the number of molecules must not change
  void add(std::span<const double> positions_A);
  /// nan for fewer than two samples or molecules.
  double value() const;

  /// All that it remembers, for a checkpoint.
  struct Memory {
    std::int64_t samples = 0;
    std::vector<double> means_A;     ///< <r> of each pair (0,1), (0,2), (1,2), (0,3), ...
    std::vector<double> squares_A2;  ///< sum of (r - <r>)^2
  };
  const Memory& memory() const { return memory_; }
  /// @param memory of as many molecules as add() will get
  void restore(Memory memory) { memory_ = std::move(memory); }

 private:
  Memory memory_;
};

}  // namespace tarn::analysis
