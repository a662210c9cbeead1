#pragma once

#include <span>

#include <Eigen/Core>

#include "tarn/physics/water_model.hpp"

namespace tarn::start {

/// Centre of mass of a cluster [A].
Eigen::Vector3d centre_of_mass(const WaterModel& model, std::span<const double> positions_A);

/// Largest distance of an oxygen from the centre of mass [A], which a wall limits.
double farthest_oxygen_A(const WaterModel& model, std::span<const double> positions_A);

/// Moves the centre of mass of a cluster to the origin.
/// @param positions_A 9 N numbers; replaced
void move_centre_to_origin(const WaterModel& model, std::span<double> positions_A);

}  // namespace tarn::start
