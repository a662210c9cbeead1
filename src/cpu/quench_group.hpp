#pragma once

#include <span>

#include "core/aligned.hpp"
#include "kernel_table.hpp"
#include "small_cluster_forces.hpp"
#include "steps/quench.hpp"

namespace tarn::cpu {

/// Clusters that are quenched together: as many small ones as a pack has lanes, or one large one
/// with a molecule per lane. The caller evaluates the trial positions. The results of a cluster do
/// not depend on the others, nor on when it begins.
class QuenchGroup {
 public:
  QuenchGroup(int molecules, const QuenchRules& rules, const KernelTable& kernels = best_kernels());

  int clusters() const { return small_ ? kernels_.lanes : 1; }
  /// Begins a quench, with the first trial at the given positions.
  /// @param positions_A 9 N numbers, as below
  void begin(int cluster, std::span<const double> positions_A, double tolerance_kcal_per_mol_A,
             int most_iterations);
  void get_trial(int cluster, std::span<double> positions_A) const;
  /// Energy and forces at the trial positions.
  void put_forces(int cluster, double energy_kcal_per_mol,
                  std::span<const double> forces_kcal_per_mol_A);
  /// Those of a pairwise model for all small clusters.
  void compute_forces(SmallClusterForces& forces);
  /// quench_step() of all clusters.
  void step();
  /// Ends a quench, which steps then leave out.
  void end(int cluster);
  /// @param k a QuenchNumber
  double number(int cluster, int k) const;
  void get_positions(int cluster, std::span<double> positions_A) const;

 private:
  /// Place of the first coordinate of a molecule.
  std::size_t at(int cluster, std::size_t molecule) const;
  void get(const AlignedVector<double>& from, int cluster, std::span<double> to) const;
  void put(std::span<const double> from, int cluster, AlignedVector<double>& to);

  const KernelTable& kernels_;
  QuenchRules rules_;
  int packs_;
  bool small_;
  int pair_ = 0;
  AlignedVector<double> x_, trial_, f_, energies_, rows_, numbers_;
};

}  // namespace tarn::cpu
