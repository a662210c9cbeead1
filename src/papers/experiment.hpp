#pragma once

#include <memory>
#include <vector>

#include "deck.hpp"
#include "dynamics.hpp"
#include "methods.hpp"
#include "systems.hpp"

/// @file
/// Systems, their starts and methods from decks.

namespace tarn::papers {

/// The system of a deck in R^n with its initial data, and its method.
Experiment make_experiment(const PaperDeck& deck);
std::unique_ptr<Method> make_method(const PaperDeck& deck, const Experiment& problem);

/// The system of a deck on a manifold with its method; null for systems in R^n.
/// @throws InputError if a pendulum cannot start from the given data
std::unique_ptr<Dynamics> make_dynamics(const PaperDeck& deck);

/// The deck, with missing masses, lengths and initial data taken from the paper.
PaperDeck with_initial_data(PaperDeck deck);

/// Whether the system consists of spherical pendula.
bool is_three_dimensional(const PaperDeck& deck);

/// Strength of the penalty, from either section; unused without a penalty.
double omega_of(const PaperDeck& deck);

/// @throws InputError if the start violates the constraints, if its velocity is not tangent to
/// them, or if the gradients at the start do not determine the multipliers
void check_on_constraints(const PaperDeck& deck, const Experiment& problem);

/// Positions, or velocities, of two points relative to the joints.
Vector relative_to_joints(Vector points);

Vector vector_of(const std::vector<double>& values);

}  // namespace tarn::papers
