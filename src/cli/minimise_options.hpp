#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "command.hpp"
#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// Runs a minimisation with progress lines. It stops when interrupted (see catch_interrupts()), and
/// warns if it did not converge.
/// @param options without callbacks
/// @param advice added to this warning
/// @param exit_code set if no minimum was reached
MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    std::string_view advice, Terminal& terminal, int& exit_code);

/// Advice for a minimisation with a potential that did not converge.
inline constexpr std::string_view kNoisyForces =
    ". Check the forces with tarn check --potential; if their errors are larger, increase "
    "--tolerance";

/// Energies before and after, and the largest remaining force.
std::string result_text(const MinimiseResult& result);

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
