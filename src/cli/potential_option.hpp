#pragma once

#include <memory>
#include <optional>
#include <string>

#include "command.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// --potential DECK and --tolerance of commands on structures.
struct PotentialOption {
  std::string deck;
  double tolerance_kcal_per_mol_A = MinimiseOptions{}.tolerance_kcal_per_mol_A;

  /// @return the option --potential
  Option* add_to(Command& command);
  bool is_given() const { return !deck.empty(); }
  /// The water model of the deck, unless --model gives another one.
  std::optional<WaterModel> model(const std::string& given) const;
  /// @return null without the option
  /// @throws InputError if the deck has no potential, and as make_potential()
  std::shared_ptr<Potential> make(int molecules, Terminal& terminal) const;
};

}  // namespace tarn::cli
