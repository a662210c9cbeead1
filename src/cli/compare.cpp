#include "tarn/compare.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "compare_tables.hpp"
#include "deck_arguments.hpp"
#include "ranks.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckArguments {
  std::string schemes, reference;
  std::vector<double> steps;
  std::vector<int> beads;
  std::vector<std::string> free_rings, frequencies;
};

/// The parts between commas, including empty ones; none for an empty text.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (!text.empty() && begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Whether a scheme lost a replica.
bool has_failed(const CompareResult& result) {
  return std::ranges::any_of(result.schemes,
                             [](const SchemeResult& s) { return !s.blow_ups.empty(); });
}

void compare(const Arguments& a, Events& events, int& exit_code) {
  const Deck deck = a.load();
  Terminal terminal(a.quiet);
  CompareOptions options;
  a.apply_to(options, terminal, events);
  options.steps = a.steps;
  options.reference = a.reference;
  options.beads = a.beads;
  options.free_rings = a.free_rings;
  options.frequencies = a.frequencies;
  options.make_engine = engine_maker();
  terminal.print(a.warning_of_threads(deck));

  CompareResult result;
  try {
    result = compare_schemes(deck, split(a.schemes), options);
  } catch (const StartInterrupted& interruption) {
    exit_code = interrupted_exit_code();
    events.ended({}, true, exit_code);
    terminal.warning(interruption.what());
    return;
  }
  terminal.close_bar();
  if (result.interrupted) {
    terminal.warning("interrupted: the tables cover the part completed so far");
  }
  if (has_failed(result)) exit_code = static_cast<int>(ExitCode::numerical);
  if (result.interrupted) exit_code = interrupted_exit_code();
  events.ended(result.out_dir, result.interrupted, exit_code);
  // With --json, standard output is reserved for events.
  std::FILE* out = a.json ? stderr : stdout;
  print_compare_tables(out, deck, result, !options.steps.empty());
  for (const std::string& picture : result.pictures) fmt::print(out, "Picture: {}\n", picture);
}

}  // namespace

void add_compare(Command& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  Command* command = app.add_subcommand("compare", "compare integration schemes on one deck");
  a->add_to(*command, "output folder; default: out/<name of the deck>-compare",
            "replace the comparison in the output folder");
  command
      ->add_option("--schemes", a->schemes,
                   "schemes and their [integrator] keys, such as shake,settle,zss-stiff:omega=20")
      ->required();
  command
      ->add_option("--steps", a->steps,
                   "run each scheme with each of these time steps (in fs) and plot errors against "
                   "cost; also orders of convergence of the energy without a thermostat")
      ->delimiter(',');
  command->add_option("--reference", a->reference,
                      "reference scheme for --steps; default: settle, or verlet for flexible "
                      "models, with half of the smallest step");
  command
      ->add_option("--beads", a->beads,
                   "run each scheme with each of these numbers of beads and extrapolate energies "
                   "and ring sizes to infinitely many")
      ->delimiter(',');
  command
      ->add_option("--free-ring", a->free_rings,
                   "run each scheme with each of these flows of the free ring, cayley or exact")
      ->delimiter(',');
  command
      ->add_option("--frequencies", a->frequencies,
                   "run each scheme with each of these kinds of frequencies of the ring polymers, "
                   "economised or trotter; only averages with trotter are extrapolated")
      ->delimiter(',');
  command->callback([a, &exit_code] {
    run_with_events(*a, [&](Events& events) { compare(*a, events, exit_code); });
  });
}

}  // namespace tarn::cli
