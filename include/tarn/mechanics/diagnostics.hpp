#pragma once

#include "tarn/mechanics/methods.hpp"

/// @file
/// Conserved quantities of methods.

namespace tarn::mechanics {

/// The state after a number of steps from (x, v).
State advanced(Method& method, const Vector& x, const Vector& v, std::int64_t steps);

/// ½ vᵀ M v + V(x)
double energy(const MechanicalSystem& system, const State& s);
/// The energy that a method conserves up to its order, at its own energy place.
double energy(const MechanicalSystem& system, const Method& method, const State& s);
/// Σ m v over points with `dimensions` coordinates each.
Vector linear_momentum(const MechanicalSystem& system, const Vector& v, Index dimensions);
/// Σ m (x v_y - y v_x) of the first two coordinates of each point.
double angular_momentum_z(const MechanicalSystem& system, const Vector& x, const Vector& v,
                          Index dimensions);

}  // namespace tarn::mechanics
