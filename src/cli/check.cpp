#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "deck/notes.hpp"
#include "deck_arguments.hpp"
#include "help_text.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/io/checkpoint.hpp"
#include "tarn/io/structure.hpp"
#include "tarn/run.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckOverrides {
  bool reference = false;
};

void check(const Arguments& a) {
  if (a.reference) {
    fmt::print("{}", deck_reference());
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
  make_system(deck, molecules);
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
                    "print the reference of all sections and keys instead");
  command->callback([a] { check(*a); });
}

}  // namespace tarn::cli
