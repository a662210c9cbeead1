#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "deck.hpp"
#include "systems.hpp"

/// @file
/// Systems, their starts and methods from decks, and the cases that runs advance.

namespace tarn::papers {

/// The system of a deck in R^n with its initial data, and its method.
Experiment make_experiment(const PaperDeck& deck);
std::unique_ptr<Method> make_method(const PaperDeck& deck, const Experiment& problem);

/// The system of a deck on a manifold with its method; null for systems in R^n.
/// @throws InputError if a pendulum cannot start from the given data
std::unique_ptr<Dynamics> make_dynamics(const PaperDeck& deck);

/// The deck, with missing masses, lengths and initial data taken from the paper.
PaperDeck with_initial_data(PaperDeck deck);

/// Whether the system consists of pendula, or of spherical pendula.
bool is_pendula(const PaperDeck& deck);
bool is_three_dimensional(const PaperDeck& deck);
/// Whether positions and velocities of decks and tables are relative to the joints.
bool gives_rods(const PaperDeck& deck);

/// Strength of the penalty, from either section; unused without a penalty.
double omega_of(const PaperDeck& deck);

/// @throws InputError if the start violates the constraints, if its velocity is not tangent to
/// them, or if the gradients at the start do not determine the multipliers
void check_on_constraints(const PaperDeck& deck, const Experiment& problem);

/// Positions, or velocities, of points relative to their joints.
Vector rods_of(const Vector& points, Index dimensions);

Vector vector_of(const std::vector<double>& values);

/// A system and its scheme at the current step, which a run advances and writes.
class Case {
 public:
  explicit Case(const PaperDeck& deck) : deck_(deck), keys_(deck_.own.integrator) {}
  virtual ~Case() = default;
  /// Advances by one step. @throws NumericalError with the step number; the state is unchanged then
  void step();
  /// The same without checks, for timings.
  virtual void step_only() = 0;
  /// Columns of trajectory.csv after step and time.
  virtual std::vector<Quantity> row() const = 0;
  virtual std::vector<Quantity> energies() const = 0;
  virtual std::vector<Quantity> conserved() const = 0;
  virtual Costs costs() const = 0;
  /// Columns of iterations.csv after the iteration number; empty if the case has none.
  virtual std::vector<Quantity> iterate() const { return {}; }
  /// Number of steps, if the case and not the deck determines it.
  virtual std::optional<std::int64_t> steps() const { return std::nullopt; }

 protected:
  /// Advances by one step. @throws NumericalError; the state is unchanged then
  virtual void advance() = 0;

  const PaperDeck deck_;
  const IntegratorKeys& keys_;  ///< of deck_
  std::int64_t step_ = 0;
};

/// @throws InputError when a scheme with rigid constraints cannot start from the given data
std::unique_ptr<Case> make_case(const PaperDeck& deck);

}  // namespace tarn::papers
