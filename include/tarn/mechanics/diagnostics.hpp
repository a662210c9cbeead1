#pragma once

#include <functional>

#include "tarn/mechanics/methods.hpp"

/// @file
/// What a method keeps, measured.

namespace tarn::mechanics {

/// Steps from (x, v).
State advanced(Method& method, const Vector& x, const Vector& v, std::int64_t steps);

/// ½ vᵀ M v + V(x)
double energy(const MechanicalSystem& system, const State& s);
/// What a method conserves, up to its order: its energies where it takes them.
double energy(const MechanicalSystem& system, const Method& method, const State& s);
/// Σ m v over points of that many coordinates.
Vector linear_momentum(const MechanicalSystem& system, const Vector& v, Index dimensions);
/// Σ m (x v_y - y v_x) of the first two coordinates of each point.
double angular_momentum_z(const MechanicalSystem& system, const Vector& x, const Vector& v,
                          Index dimensions);

/// Derivative of a map by central differences of order 12, equation (67). With a spacing of 0.01
/// the error is some 1e-13 for smooth maps on lengths of one.
Matrix derivative(const std::function<Vector(const Vector&)>& map, const Vector& at,
                  double spacing = 0.01);

/// Largest entry of Jᵀ Ω J - Ω of one step, in the variables (x, M v): equation (67).
double symplectic_defect(const MechanicalSystem& system, Method& method, const Vector& x,
                         const Vector& v, double spacing = 0.01);

/// Distance from the start after n steps, a change of sign of the velocities, and n steps.
double reversal_error(Method& method, const Vector& x, const Vector& v, std::int64_t steps);

}  // namespace tarn::mechanics
