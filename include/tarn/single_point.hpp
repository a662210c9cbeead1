#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/force_field.hpp"

namespace tarn {

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
