#pragma once

#include <span>

#include "tarn/force_field.hpp"
#include "tarn/start.hpp"

namespace tarn::start {

/// Moves one penalised cluster onto the slow manifold, where its bonds do not vibrate.
///
/// Applies IPA (move_to_slow_point) with all forces. g and its rate become their means over a
/// window of three periods of the slowest vibration on each side, by the smallest mass-weighted
/// moves of the atoms. The momentum and the centre of mass of each molecule are conserved exactly,
/// the angular momentum to the order of the amplitude.
/// @param omega penalty strength, finite
/// @param positions_A, velocities_A_per_akma 9 N numbers; replaced
/// @throws NumericalError if it does not converge
SlowManifoldStart project_onto_slow_manifold(ForceField& force_field, double omega,
                                             std::span<double> positions_A,
                                             std::span<double> velocities_A_per_akma);

}  // namespace tarn::start
