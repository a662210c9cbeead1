#pragma once

#include <memory>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/mechanics/dynamics.hpp"
#include "tarn/mechanics/methods.hpp"
#include "tarn/mechanics/systems.hpp"

/// @file
/// What a mechanical deck says, as the objects of tarn/mechanics.

namespace tarn {

/// The system of a deck in R^n, its start, and its method.
mechanics::Experiment make_experiment(const Deck& deck);
std::unique_ptr<mechanics::Method> make_method(const Deck& deck,
                                               const mechanics::Experiment& problem);

/// The system of a deck on a manifold with its method; null for those in R^n.
/// @throws InputError where a pendulum cannot start from the given data
std::unique_ptr<mechanics::Dynamics> make_dynamics(const Deck& deck);

/// The deck with the paper's masses, lengths and initial data where it gives none.
Deck with_initial_data(Deck deck);

/// Whether the scheme of a deck keeps constraints, or the system has none that could vibrate; the
/// others solve the equations of a penalty.
bool solves_rigid_equations(const Deck& deck);

/// Whether the system is one of pendula in space.
bool is_three_dimensional(const Deck& deck);

/// Strength of the penalty, from either section; without a penalty it is not used.
double omega_of(const Deck& deck);

/// @throws InputError where the start is not on the constraints with a velocity along them, or
/// where their gradients there do not determine the multipliers
void check_on_constraints(const Deck& deck, const mechanics::Experiment& problem);

/// Two points in space as their differences from the joints.
mechanics::Vector relative_to_joints(mechanics::Vector points);

mechanics::Vector vector_of(const std::vector<double>& values);

}  // namespace tarn
