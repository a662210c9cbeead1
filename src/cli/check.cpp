#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "deck/notes.hpp"
#include "deck/schema.hpp"
#include "deck_arguments.hpp"
#include "help_text.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/checkpoint.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/modes.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckOverrides {
  bool reference = false, mechanics_reference = false;
};

/// Beads times temperature for an error of 1 % in the kinetic energy of hydrogen.
constexpr double kGoodBeads_K = 16000.0;

/// The O-H stretch of one molecule of a flexible model, which limits the time step.
void report_shortest_period(const System& system, Terminal& terminal) {
  const std::vector<double> molecule = quenched_cluster(system.model, 1, 1, 0);
  const double wavenumber_per_cm =
      normal_modes(system.model, molecule).modes.back().wavenumber_per_cm;
  const double period_fs = 1.0 / (wavenumber_per_cm * units::speed_of_light_cm_per_fs);
  const double step_fs = system.integrator.timestep_akma * units::femtoseconds_per_akma;
  terminal.info(fmt::format("shortest period of {}: {:.3g} fs ({:.0f}/cm), {:.3g} time steps",
                            system.model.name, period_fs, wavenumber_per_cm, period_fs / step_fs));
  if (system.path_integral.beads == 1) return;
  double coldest_K = system.path_integral.temperature_K;
  if (system.thermostat.kind != Thermostat::none) {
    const std::vector<double>& all = system.thermostat.temperatures_K;
    coldest_K =
        all.empty() ? system.thermostat.temperature_K : *std::min_element(all.begin(), all.end());
  }
  const double quanta = units::quantum_kcal_cm_per_mol * wavenumber_per_cm /
                        (units::boltzmann_kcal_per_mol_K * coldest_K);
  terminal.info(fmt::format(
      "a quantum of this vibration is {:.3g} kT at {:g} K; {} beads, {:.0f} for an error of 1 % in "
      "the kinetic energy of hydrogen",
      quanta, coldest_K, system.path_integral.beads, std::ceil(kGoodBeads_K / coldest_K)));
}

void check(const Arguments& a) {
  if (a.reference) {
    fmt::print("{}", deck_reference());
    return;
  }
  if (a.mechanics_reference) {
    fmt::print("{}", decks::mechanics_deck_reference());
    return;
  }
  if (a.deck.empty()) throw InputError("no deck given: tarn check DECK");
  const Deck deck = a.load();
  Terminal terminal(false);
  for (const std::string& note : decks::notes_on(deck)) terminal.warning(note);
  if (const auto note = decks::note_on_samples(deck)) terminal.warning(*note);
  if (is_mechanical(deck.system.kind)) {
    fmt::print("{}", resolved_deck(check_mechanics(deck)));
    return;
  }
  int molecules = deck.system.molecules;
  if (const auto path = structure_path(deck))
    molecules = io::read_structure(*path, {deck.system.frame}).molecules;
  if (const auto path = state_path(deck)) molecules = io::read_checkpoint(*path).state.molecules;
  const System system = make_system(deck, molecules);
  if (system.model.is_flexible()) report_shortest_period(system, terminal);
  fmt::print("{}", resolved_deck(deck));
}

}  // namespace

void add_check(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("check", "check a deck and print all of its keys, without running it");
  command->add_option("deck", a->deck, kDeckHelp);
  a->add_override_options(*command);
  command->add_flag("--reference", a->reference,
                    "print the reference of all sections and keys of water instead");
  command->add_flag("--reference-mechanics", a->mechanics_reference,
                    "print the reference of mechanical systems instead");
  command->callback([a] { check(*a); });
}

}  // namespace tarn::cli
