#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/force_field.hpp"
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

/// Energy and forces of one configuration.
struct SinglePoint {
  ClusterEnergy energy;
  std::vector<double> forces_kcal_per_mol_A;  ///< -grad V0 by atom, 9 N numbers
  /// Names and values of the terms of a many-body model, whose sum is the energy [kcal/mol].
  std::vector<std::pair<std::string, double>> terms_kcal_per_mol{};
};

/// Computes energy and forces on a device: all pairs, vacuum, no cutoff, double precision. "auto"
/// is the CPU. The results are not finite if atoms of two molecules coincide; a many-body model
/// throws NumericalError if it has no energy for the configuration. For many
/// configurations on a CPU use ForceField.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers
/// @throws InputError if the number of coordinates is not 9 N, or for an unknown device
/// @throws DeviceError if the device cannot be used
SinglePoint single_point(const WaterModel& model, std::span<const double> positions_A,
                         const DeviceRequest& device);

}  // namespace tarn
