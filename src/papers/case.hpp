#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "deck.hpp"
#include "dynamics.hpp"

namespace tarn::papers {

/// A system and its scheme at the current step, which a run advances and writes.
class Case {
 public:
  virtual ~Case() = default;
  /// Advances by one step. @throws NumericalError with the step number; the state is unchanged then
  virtual void step() = 0;
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
};

/// @throws InputError when a scheme with rigid constraints cannot start from the given data
std::unique_ptr<Case> make_case(const PaperDeck& deck);

}  // namespace tarn::papers
