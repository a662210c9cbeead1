#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "system.hpp"

/// @file
/// The systems of the papers in R^n.

namespace tarn::papers {

/// A system with its constraints, penalty and start.
struct Experiment {
  std::unique_ptr<MechanicalSystem> soft = {};  ///< V without the penalty
  std::unique_ptr<Constraint> constraint = {};  ///< null without constraints
  std::unique_ptr<MechanicalSystem> penalised =
      {};                                        ///< V with the penalty; null without constraints
  double omega = 1.0;                            ///< strength of the penalty
  std::unique_ptr<MechanicalSystem> extra = {};  ///< owned for `soft`
  std::unique_ptr<Constraint> extra_constraint = {};
  Vector position = {}, velocity = {};

  /// The system for unconstrained methods.
  const MechanicalSystem& whole() const { return penalised ? *penalised : *soft; }
  Equations equations(bool rigid) const {
    return {rigid ? *soft : whole(), constraint.get(), omega, rigid};
  }
};

/// Positions, or velocities, of points relative to their joints, and the inverse.
Vector rods_of(const Vector& points, Index dimensions);
Vector points_of(Vector rods, Index dimensions);

/// Masses, lengths and start of TO 4.1: from (0, -1) and (1, -2) at rest.
SystemKeys double_pendulum();
/// TO 4.2: masses 1, lengths √5, x_i = i, y_i = -2 i, at rest.
SystemKeys pendulum_chain(Index n);
/// One rod of length 1 with its end at (0.6, 0, -0.8); and two, the second one along (0, 0.6,
/// -0.8).
SystemKeys spherical_pendulum();
SystemKeys double_spherical_pendulum();
/// Chains of pendula, TO 4.1 and 4.2, equation (44), with V = + gravity Σ m y (TO prints a minus).
/// In the plane or, if the positions have three coordinates, in space, MS 6.3, equation (51); there
/// z is up, and the given positions and velocities are those of the rods.
Experiment make_pendula(const SystemKeys& pendula, double omega);

/// Bases of a DNA strand as angles, TO (4.9):
/// V = Σ ½ (θ_{k+1} - θ_k)² + epsilon U(θ_k), U = (exp(-a [1 - cos θ - x0]) - 1)², equation (45),
/// from the start of TO 4.4: θ_k = 0.8 + 0.1 xi_k, θ_k' = cos(4πk/N)/√N, k from 1.
/// @param keys with their `n`
Experiment make_dna(const SystemKeys& keys, const Vector& xi);
/// Standard normal random numbers for a seed.
Vector standard_normals(std::uint64_t seed, Index count);

/// Planar double spring of AST 5.1: masses 1, g = r - 1 for each spring, no gravity; the start is
/// AST (29)-(30).
Experiment make_double_spring(double omega);

/// Three points in the plane for tests of methods: masses 1, 1.7, 0.6; bonds 1-2 and 2-3 of length
/// 1 as constraints |r|² - 1; between 1 and 3 the potential ½ (|r| - 1.2)². It starts on the
/// constraints at (0, 0), (1, 0), (1, 1), with linear and angular momentum.
Experiment make_three_body_plane(double omega);

}  // namespace tarn::papers
