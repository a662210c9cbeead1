#pragma once

#include <span>

#include "tarn/force_field.hpp"
#include "tarn/start.hpp"

namespace tarn::start {

/// Moves one penalised cluster onto the slow manifold, where its bonds do not vibrate.
///
/// IPA (move_to_slow_point) over all forces, of which the bonds only follow: g and its rate become
/// their means over a window that covers three periods of the slowest vibration to both sides, by
/// the least moves of the atoms weighted by mass. All else stays: the momentum of each molecule and
/// its centre of mass exactly, the angular momentum to the order of the amplitude.
/// @param omega penalty strength, finite
/// @param positions_A, velocities_A_per_akma 9 N numbers; replaced
/// @throws NumericalError when it does not settle
SlowManifoldStart project_onto_slow_manifold(ForceField& force_field, double omega,
                                             std::span<double> positions_A,
                                             std::span<double> velocities_A_per_akma);

}  // namespace tarn::start
