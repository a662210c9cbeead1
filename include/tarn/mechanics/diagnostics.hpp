#pragma once

#include <functional>

#include "tarn/mechanics/methods.hpp"

/// @file
/// Measures conserved quantities and geometric properties of methods.

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

/// Derivative of a map by central differences of order 12, equation (67). With a spacing of 0.01
/// the error is about 1e-13 for maps that are smooth on a scale of 1.
Matrix derivative(const std::function<Vector(const Vector&)>& map, const Vector& at,
                  double spacing = 0.01);

/// Largest entry of Jᵀ Ω J - Ω of one step, in the variables (x, M v): equation (67).
double symplectic_defect(const MechanicalSystem& system, Method& method, const Vector& x,
                         const Vector& v, double spacing = 0.01);

/// Distance from the start after n steps, reversal of the velocities, and n further steps.
double reversal_error(Method& method, const Vector& x, const Vector& v, std::int64_t steps);

}  // namespace tarn::mechanics
