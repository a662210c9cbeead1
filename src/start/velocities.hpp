#pragma once

#include <cstdint>
#include <span>

#include "tarn/physics/water_model.hpp"

namespace tarn::start {

/// Draws velocities from the Maxwell distribution, sqrt(kT/m) xi.
/// @param positions_A 9 N numbers
/// @param tangent remove the components that change bond lengths: then J v = 0, and 6 N of the 9 N
/// degrees of freedom remain
/// @param velocities_A_per_akma 9 N numbers; written
void draw_velocities(const WaterModel& model, std::span<const double> positions_A,
                     double temperature_K, bool tangent, std::uint64_t seed, std::int64_t replica,
                     std::span<double> velocities_A_per_akma);

/// Removes the velocity components that change bond lengths, as draw_velocities() does for
/// `tangent`.
void project_onto_constraints(const WaterModel& model, std::span<const double> positions_A,
                              std::span<double> velocities_A_per_akma);

/// Subtracts the rigid-body motion of the cluster: the total linear and angular momentum become
/// zero, and J v does not change.
void remove_momentum(const WaterModel& model, std::span<const double> positions_A,
                     std::span<double> velocities_A_per_akma);

}  // namespace tarn::start
