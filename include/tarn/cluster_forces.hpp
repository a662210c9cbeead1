#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Energies and forces of many clusters of equal size at once.

namespace tarn {

/// Computes energies and forces of clusters: all pairs, vacuum, no cutoff, double precision, and
/// the intramolecular energy of flexible models. On one device, the results of a cluster do not
/// depend on the other clusters or on the number of threads.
///
/// An object keeps its work space between calls, and must not be used by several threads at once.
class ClusterForces {
 public:
  /// @param device "auto" is the CPU. On a CUDA device, each call makes new engines
  /// @throws InputError if there is no molecule
  ClusterForces(const WaterModel& model, int molecules, const DeviceRequest& device = {"cpu"});
  ~ClusterForces();
  ClusterForces(ClusterForces&&) noexcept;
  ClusterForces& operator=(ClusterForces&&) noexcept;

  int molecules() const;

  /// Results are not finite for clusters in which atoms of two molecules coincide.
  /// @param positions_A [cluster][molecule][9], atoms O, H1, H2
  /// @param energies_kcal_per_mol [cluster]
  /// @param forces_kcal_per_mol_A minus the gradient, of the size of the positions
  /// @throws InputError for wrong sizes, or an unknown device; DeviceError if the device cannot be
  /// used
  void compute(std::span<const double> positions_A, std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Dipole moments of clusters, equation (28) [e A], with respect to the positions of all charges;
/// molecules are neutral.
/// @param positions_A [cluster][molecule][9]
/// @return [cluster][3]
/// @throws InputError if the size is not a multiple of 9 `molecules`
std::vector<double> dipole_moments_e_A(const WaterModel& model, int molecules,
                                       std::span<const double> positions_A);

}  // namespace tarn
