#pragma once

#include <memory>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/mechanics/dynamics.hpp"
#include "tarn/mechanics/methods.hpp"
#include "tarn/mechanics/systems.hpp"

/// @file
/// Converts a mechanical deck to the objects of tarn/mechanics.

namespace tarn {

/// The system of a deck in R^n with its initial data, and its method.
mechanics::Experiment make_experiment(const Deck& deck);
std::unique_ptr<mechanics::Method> make_method(const Deck& deck,
                                               const mechanics::Experiment& problem);

/// The system of a deck on a manifold with its method; null for systems in R^n.
/// @throws InputError if a pendulum cannot start from the given data
std::unique_ptr<mechanics::Dynamics> make_dynamics(const Deck& deck);

/// The deck, with missing masses, lengths and initial data taken from the paper.
Deck with_initial_data(Deck deck);

/// Whether the scheme satisfies the constraints exactly or the system has no stiff constraints;
/// otherwise the deck solves the penalty equations.
bool solves_rigid_equations(const Deck& deck);

/// Whether the system consists of spherical pendula.
bool is_three_dimensional(const Deck& deck);

/// Strength of the penalty, from either section; unused without a penalty.
double omega_of(const Deck& deck);

/// @throws InputError if the start violates the constraints, if its velocity is not tangent to
/// them, or if the gradients at the start do not determine the multipliers
void check_on_constraints(const Deck& deck, const mechanics::Experiment& problem);

/// Positions, or velocities, of two points relative to the joints.
mechanics::Vector relative_to_joints(mechanics::Vector points);

mechanics::Vector vector_of(const std::vector<double>& values);

}  // namespace tarn
