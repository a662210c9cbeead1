#include "minimise_options.hpp"

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/deck_potential.hpp"

namespace tarn::cli {

MinimiseResult minimise_with_report(
    MinimiseOptions options,
    const std::function<MinimiseResult(const MinimiseOptions& options)>& minimise,
    std::string_view advice, Terminal& terminal, int& exit_code) {
  ReportTimer is_due;
  options.should_continue = [] { return !interrupted(); };
  options.on_iteration = [&](const MinimiseResult& r) {
    if (!is_due()) return;
    terminal.info(fmt::format("iteration {}: {:.6f} kcal/mol, largest force {:.1e} kcal/mol/A",
                              r.iterations, r.energy_kcal_per_mol, r.max_gradient_kcal_per_mol_A));
  };
  const MinimiseResult result = minimise(options);
  if (interrupted()) {
    exit_code = interrupted_exit_code();
    terminal.warning("interrupted before the minimum was reached");
  } else if (!result.converged) {
    exit_code = static_cast<int>(ExitCode::numerical);
    terminal.warning(
        fmt::format("not converged: a force or torque is still larger than {:.0e} kcal/mol/A{}",
                    options.tolerance_kcal_per_mol_A, advice));
  }
  if (result.saddle_points > 0) {
    terminal.note(fmt::format(
        "reached {}, where the forces vanish too, and continued from there to a minimum",
        result.saddle_points == 1 ? std::string("a saddle point")
                                  : fmt::format("{} saddle points", result.saddle_points)));
  }
  return result;
}

std::string result_text(const MinimiseResult& r) {
  return fmt::format(
      "{:.9f} kcal/mol before, {:.9f} kcal/mol after {} iterations; largest remaining force or "
      "torque {:.1e} kcal/mol/A",
      r.start_energy_kcal_per_mol, r.energy_kcal_per_mol, r.iterations,
      r.max_gradient_kcal_per_mol_A);
}

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
