#pragma once

#include <cstdint>
#include <span>

#include "tarn/physics/water_model.hpp"

namespace tarn::start {

/// Velocities from Maxwell's distribution, sqrt(kT/m) xi.
/// @param positions_A 9 N numbers
/// @param tangent remove the part that changes bond lengths: then J v = 0, and 6N degrees of
/// freedom are left of 9N
/// @param velocities_A_per_akma 9 N numbers; written
void draw_velocities(const WaterModel& model, std::span<const double> positions_A,
                     double temperature_K, bool tangent, std::uint64_t seed, std::int64_t replica,
                     std::span<double> velocities_A_per_akma);

/// Takes out of velocities what changes bond lengths, as draw_velocities() does for `tangent`.
void project_onto_constraints(const WaterModel& model, std::span<const double> positions_A,
                              std::span<double> velocities_A_per_akma);

/// Subtracts the motion of the cluster as one rigid body: its total linear momentum and its angular
/// momentum vanish, and J v stays what it was.
void remove_momentum(const WaterModel& model, std::span<const double> positions_A,
                     std::span<double> velocities_A_per_akma);

}  // namespace tarn::start
