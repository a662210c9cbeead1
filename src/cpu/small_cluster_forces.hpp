#pragma once

#include "core/aligned.hpp"
#include "kernel_table.hpp"
#include "tarn/physics/water_model.hpp"

namespace tarn::cpu {

/// Energies and forces of small clusters (is_small_cluster) in double precision. A lane is a
/// cluster or, for few clusters, a molecule. The results of a cluster have the same bits in both
/// cases, and do not depend on the other clusters. An object is the work space of one thread.
class SmallClusterForces {
 public:
  SmallClusterForces(const WaterModel& model, int molecules,
                     const KernelTable& kernels = best_kernels());

  /// Number of clusters that one call of compute() takes.
  int lanes() const { return kernels_.lanes; }
  /// @param clusters number of clusters, 1 to lanes()
  /// @param positions_A [cluster][9 N]
  /// @param energies_kcal_per_mol [cluster]; @param forces_kcal_per_mol_A [cluster][9 N]
  void compute(int clusters, const double* positions_A, double* energies_kcal_per_mol,
               double* forces_kcal_per_mol_A);
  /// Whether compute() then has one molecule per lane.
  bool takes_one_by_one(int clusters) const;
  /// The same for as many clusters as there are lanes. @param x, f [molecule][9][lane]
  /// @param energies [lane]
  void compute_packs(const double* x, double* energies, double* f);

 private:
  /// One cluster, with one molecule per lane. @return its energy
  double compute_alone(const double* positions_A, double* forces_kcal_per_mol_A);
  void compute_together(int clusters, const double* positions_A, double* energies_kcal_per_mol,
                        double* forces_kcal_per_mol_A);

  const KernelTable& kernels_;
  PairParameters<double> pair_;
  FlexibleParameters<double> bonds_;
  bool flexible_, m_site_;
  int molecules_, packs_;  ///< of molecules
  AlignedVector<double> x_, f_, sites_, work_, terms_, energies_, bond_energies_;
};

}  // namespace tarn::cpu
