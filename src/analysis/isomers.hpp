#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "blocking.hpp"

namespace tarn::analysis {

/// Minima with energies closer than this times the tolerance of the quenches are the same minimum
/// or mirror images [A]. After a quench to 1e-6 kcal/mol/A this is 1e-7 kcal/mol, while the
/// energies are accurate to 1e-8, even with modes as soft as 1e-4 kcal/mol/A^2.
inline constexpr double kSameMinimum_A = 0.1;

/// A minimum found by quenching.
struct Isomer {
  double energy_kcal_per_mol = 0.0;
  std::vector<double> positions_A;  ///< of the first sample quenched to it
  /// Population of the minimum as the mean of zeros and ones: one per group, and last of all groups
  /// together.
  std::vector<PooledBlocking> shares;
  Halves halves;        ///< of the population in all groups together
  std::int64_t id = 0;  ///< in the order of discovery, from 0
};

/// One cluster of one sample, quenched.
struct QuenchedCluster {
  std::size_t group = 0;   ///< of replicas that are counted together, such as those of a bath
  std::int64_t place = 0;  ///< index of the replica in its group: 0, 1, ...
  /// Index of the independent part of the run: 0, 1, ... Replicas that exchange their states belong
  /// to the same part.
  std::int64_t part = 0;
  std::int64_t walker = 0;  ///< state that moves between replicas by exchange; else the replica
  double energy_kcal_per_mol = 0.0;
  std::span<const double> positions_A;
};

/// The isomers that each walker visited, one after another, by their ids.
class IsomerPaths {
 public:
  /// Further walkers, and further isomers of a walker, are not recorded.
  static constexpr std::int64_t kMostWalkers = 1024, kMostVisits = 1024;

  explicit IsomerPaths(std::int64_t walkers);
  /// Records where a walker is, if it was elsewhere before.
  void add(std::int64_t walker, std::int64_t id);
  /// Mean number of changes between the isomers of a list; visits of others are ignored.
  /// @param counts whether a walker is counted; null: all
  double changes_per_walker(std::span<const std::int64_t> ids,
                            const std::function<bool(std::int64_t)>& counts = {}) const;

  /// The state for a checkpoint.
  std::vector<std::int64_t> memory() const;
  void restore(std::span<const std::int64_t> memory);

 private:
  std::vector<std::vector<std::int64_t>> visits_;  // [walker]
};

/// Counts how often clusters are quenched to each of the lowest minima, the inherent structures of
/// Stillinger & Weber 1982. Equation (62) estimates their populations. Memory is limited to the
/// lowest minima: a minimum that leaves the list never returns, so the counts of the listed ones
/// are complete.
class IsomerCensus {
 public:
  /// @param most largest number of minima
  /// @param same_kcal_per_mol smallest difference between their energies
  /// @param replicas number in each group
  /// @param parts number of independent parts of the run, over all groups
  /// @param walkers number of replicas
  /// @param starts number of start structures; see PooledBlocking::series_of_replicas()
  IsomerCensus(std::size_t most, double same_kcal_per_mol, std::span<const int> replicas, int parts,
               std::int64_t walkers, int starts = 1);

  /// Adds the clusters of one step. If several of them find a new minimum, the first one gives its
  /// structure.
  void add(std::span<const QuenchedCluster> clusters);

  /// Sorted by energy, lowest first.
  const std::vector<Isomer>& isomers() const { return isomers_; }
  /// Number of clusters of a group so far.
  double samples(std::size_t group) const { return elsewhere_.shares[group].samples(); }
  /// Index of the group of all clusters, after those of the constructor.
  std::size_t all() const { return elsewhere_.shares.size() - 1; }

  /// The isomers with at least this population in a group, the most populated first.
  std::vector<const Isomer*> isomers_above(double share, std::size_t group) const;

  const IsomerPaths& paths() const { return paths_; }

  /// @param a writes the state to a checkpoint, or reads it
  template <class Archive>
  void archive(Archive& a) {
    const auto archive_one = [&](Isomer& isomer) {
      a(isomer.energy_kcal_per_mol, isomer.id, isomer.positions_A, isomer.halves);
      a.fixed(isomer.shares);
    };
    archive_one(elsewhere_);
    a(paths_);
    a.list(isomers_, [&](Isomer& isomer) {
      if (a.is_reading()) isomer = elsewhere_;
      archive_one(isomer);
    });
  }

 private:
  /// @return its index in the list, or the length of the list if it is not in it
  std::size_t find_or_insert(const QuenchedCluster& cluster);

  std::size_t most_;
  double same_kcal_per_mol_;
  std::vector<Isomer> isomers_;
  /// Zeros for each group and for all clusters: the initial population of a new minimum. Its id is
  /// that of the next minimum.
  Isomer elsewhere_;
  IsomerPaths paths_;
};

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
