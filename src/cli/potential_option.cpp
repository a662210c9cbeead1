#include "potential_option.hpp"

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/deck_potential.hpp"

namespace tarn::cli {

Option* PotentialOption::add_to(Command& command) {
  Option* potential = command.add_option(
      "--potential", deck, "deck whose [potential] computes energies and forces; all atoms move");
  command
      .add_option("--tolerance", tolerance_kcal_per_mol_A,
                  "largest force at which minimisations with the potential end [kcal/mol/A]; "
                  "default: 1e-6")
      ->needs(potential)
      ->check(in_range(1e-8, 0.01));
  return potential;
}

std::optional<WaterModel> PotentialOption::model(const std::string& given) const {
  if (!is_given() || !given.empty()) return std::nullopt;
  return water_model(load_deck(deck));
}

std::shared_ptr<Potential> PotentialOption::make(int molecules, Terminal& terminal) const {
  if (!is_given()) return nullptr;
  auto potential =
      make_potential(load_deck(deck), molecules,
                     {.interrupted = interrupted,
                      .on_message = [&](const Message& message) { terminal.print(message); }});
  if (!potential) {
    throw InputError(fmt::format(
        "--potential {}: the deck needs [potential] kind = \"library\" or \"socket\"", deck));
  }
  return potential;
}

}  // namespace tarn::cli
