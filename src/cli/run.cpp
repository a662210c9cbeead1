#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "deck_arguments.hpp"
#include "tarn/core/error.hpp"
#include "tarn/run.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckArguments {
  bool resume = false;
};

void run(const Arguments& a, int& exit_code) {
  catch_interrupts();
  const Deck deck = load_deck(a.deck, a.set);
  Terminal terminal(a.quiet);
  RunOptions options;
  a.apply_to(options, terminal);
  options.resume = a.resume;

  const RunResult result = run_deck(deck, options);
  terminal.close_bar();
  for (const BlowUp& b : result.blow_ups) {
    terminal.warning(fmt::format(
        "replica {} blew up at step {} (molecule {}) and was stopped; the others went on. A "
        "smaller timestep_fs, or omega times the step below the limit of the scheme, may help",
        b.replica, b.step, b.molecule));
  }
  if (result.already_finished) {
    terminal.say(fmt::format("{} had reached step {} already; set run.steps to go further",
                             deck.name, result.steps_done));
    return;
  }
  terminal.say(fmt::format("{} on {}: step {} after {}", deck.name, result.device,
                           result.steps_done, duration_text(result.wall_seconds)));
  for (const std::string& picture : result.pictures) terminal.say("picture: " + picture);
  terminal.say("files are in " + result.out_dir);
  if (result.interrupted) {
    terminal.warning("interrupted; go on with: tarn run " + a.deck + " --out " + result.out_dir +
                     " --resume");
  }
  if (!result.blow_ups.empty()) exit_code = static_cast<int>(ExitCode::numerical);
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "run a deck into a folder");
  a->add_to(*command, "folder for the files; default out/<name of the deck>",
            "replace the run that is in the folder");
  command->add_flag("--resume", a->resume, "go on from the checkpoint in the folder");
  command->callback([a, &exit_code] { run(*a, exit_code); });
}

}  // namespace tarn::cli
