#pragma once

#include <span>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/force_field.hpp"

namespace tarn {

/// Energy and forces of one configuration.
struct SinglePoint {
  NonbondedEnergy energy;
  std::vector<double> forces_kcal_per_mol_A;  ///< -grad V0 by atom, 9 N numbers
};

/// All pairs, vacuum, no cutoff, in double precision, on that device; "auto" is the CPU. Atoms of
/// two molecules that coincide give numbers that are not finite. Many configurations on a CPU:
/// ForceField.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers
/// @throws InputError for a number of coordinates that is not 9 N, and for unknown devices
/// @throws DeviceError for a device that cannot be used
SinglePoint single_point(const WaterModel& model, std::span<const double> positions_A,
                         const DeviceRequest& device);

}  // namespace tarn
