#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tarn/deck.hpp"
#include "tarn/mechanics/costs.hpp"

namespace tarn {

/// A named number, a column of a table.
struct Quantity {
  std::string name;
  double value = 0.0;
};

/// A mechanical system with its scheme at one step: what a run advances and writes.
class MechanicsCase {
 public:
  virtual ~MechanicsCase() = default;
  /// To the next step. @throws NumericalError, naming the step; then the last step stays
  virtual void step() = 0;
  /// Columns of trajectory.csv after step and time, and their values now.
  virtual std::vector<std::string> columns() const = 0;
  virtual std::vector<double> row() const = 0;
  virtual std::vector<Quantity> energies() const = 0;
  virtual std::vector<Quantity> conserved() const = 0;
  virtual mechanics::Costs costs() const = 0;
  /// Columns of iterations.csv after the number of the iterate; empty for what has none.
  virtual std::vector<Quantity> iterate() const { return {}; }
  /// Number of steps, where it is not the deck that says it.
  virtual std::optional<std::int64_t> steps() const { return std::nullopt; }
  /// Everything from which it goes on bit for bit.
  virtual void save(std::ostream& out) const = 0;
  virtual void load(std::istream& in) = 0;
};

/// @throws InputError when a scheme with rigid constraints cannot start from the given data
std::unique_ptr<MechanicsCase> make_mechanics_case(const Deck& deck);

}  // namespace tarn
