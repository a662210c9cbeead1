#pragma once

#include <span>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/state.hpp"

namespace tarn {

/// Clusters at rest, evaluated by the engine of a device.
class AtRest {
 public:
  /// @param positions_A [cluster][molecule][9]
  AtRest(int molecules, std::span<const double> positions_A, DeviceRequest device);

  /// Energies at the positions, of each cluster; the kinetic ones are 0.
  std::vector<Energies> energies(const WaterModel& model) const;
  /// Forces between molecules, of the size of the positions.
  std::vector<double> forces_kcal_per_mol_A(const WaterModel& model) const;

 private:
  State at_;
  DeviceRequest device_;
};

}  // namespace tarn
