#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tarn/analysis/blocking.hpp"

namespace tarn::analysis {

/// Minima whose energies are nearer than this are one, or mirror images [kcal/mol]. Quenched until
/// no gradient is above 1e-6 kcal/mol/A, energies are known to 1e-8 even of modes as soft as 1e-4
/// kcal/mol/A^2.
inline constexpr double kSameMinimum_kcal_per_mol = 1e-7;

/// A minimum that clusters were quenched to.
struct Isomer {
  double energy_kcal_per_mol = 0.0;
  std::vector<double> positions_A;  ///< of the first sample that ended there
  /// The share of the samples that ended there, as the mean of zeros and ones: of each group, and
  /// last of all of them.
  std::vector<PooledBlocking> shares;
};

/// One cluster of one sample, quenched.
struct QuenchedCluster {
  std::size_t group = 0;   ///< what is counted together, such as the replicas of a bath
  std::int64_t place = 0;  ///< which one of the group's replicas it is: 0, 1, ...
  /// Which of the independent parts of the run it belongs to: 0, 1, ... Replicas that exchange
  /// their states are one part.
  std::int64_t part = 0;
  double energy_kcal_per_mol = 0.0;
  std::span<const double> positions_A;
};

/// Counts how often clusters are quenched to each of their lowest minima, the inherent structures
/// of Stillinger & Weber 1982, whose shares equation (62) estimates. Memory is that of the lowest
/// minima, however many there are: one that is not among them leaves the list, and never comes
/// back, so that the counts of those in it are whole.
class IsomerCensus {
 public:
  /// @param most how many minima to remember
  /// @param replicas of each group
  /// @param parts that are independent of one another, of all groups
  IsomerCensus(std::size_t most, std::span<const int> replicas, int parts);

  /// The clusters of one step. The order of those of a step decides which structure stands for a
  /// minimum that several of them find first.
  void add(std::span<const QuenchedCluster> clusters);

  /// From the lowest on.
  const std::vector<Isomer>& isomers() const { return isomers_; }
  /// Clusters of a group so far.
  double samples(std::size_t group) const { return elsewhere_[group].samples(); }
  /// The number of all clusters as a group, behind those of the constructor.
  std::size_t all() const { return elsewhere_.size() - 1; }

  /// What it remembers beside isomers(), for a checkpoint: zeros of each group and of all.
  const std::vector<PooledBlocking>& elsewhere() const { return elsewhere_; }
  void restore(std::vector<Isomer> isomers, std::vector<PooledBlocking> elsewhere);

 private:
  /// @return its place in the list, or its length where it has none
  std::size_t find_or_insert(const QuenchedCluster& cluster);

  std::size_t most_;
  std::vector<Isomer> isomers_;
  /// Zeros, of each group and of all: what a minimum is given that nobody has been in so far.
  std::vector<PooledBlocking> elsewhere_;
};

}  // namespace tarn::analysis
