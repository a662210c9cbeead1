#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/mechanics/costs.hpp"

namespace tarn {

/// A table column: name and current value.
struct Quantity {
  std::string name;
  double value = 0.0;
};

/// A mechanical system and its scheme at the current step, which a run advances and writes.
class MechanicsCase {
 public:
  virtual ~MechanicsCase() = default;
  /// Advances by one step. @throws NumericalError with the step number; the state is unchanged then
  virtual void step() = 0;
  /// Columns of trajectory.csv after step and time, and their current values.
  virtual std::vector<std::string> columns() const = 0;
  virtual std::vector<double> row() const = 0;
  virtual std::vector<Quantity> energies() const = 0;
  virtual std::vector<Quantity> conserved() const = 0;
  virtual mechanics::Costs costs() const = 0;
  /// Columns of iterations.csv after the iteration number; empty if the case has none.
  virtual std::vector<Quantity> iterate() const { return {}; }
  /// Number of steps, if the case and not the deck determines it.
  virtual std::optional<std::int64_t> steps() const { return std::nullopt; }
  /// Saves the complete state; a restart continues bitwise identically.
  virtual void save(std::ostream& out) const = 0;
  virtual void load(std::istream& in) = 0;
};

/// @throws InputError when a scheme with rigid constraints cannot start from the given data
std::unique_ptr<MechanicsCase> make_mechanics_case(const Deck& deck);

}  // namespace tarn
