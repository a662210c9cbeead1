#include "tarn/run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "deck/notes.hpp"
#include "deck_arguments.hpp"
#include "observe/warnings.hpp"
#include "run/run_messages.hpp"
#include "tarn/core/error.hpp"
#include "terminal.hpp"
#include "texts.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckArguments {
  bool resume = false;
};

/// Prints the maximum of the heat capacity, then one table per file, with one row per bath and one
/// column per quantity that varies.
void print_averages_by_bath(const std::vector<AveragedQuantity>& averages, const std::string& head,
                            Terminal& terminal) {
  if (const std::string peak = peak_text(averages); !peak.empty()) terminal.info(peak);
  terminal.info(head + "; see averages.csv for all of them and their correlation times");
  std::vector<std::string> tables;
  for (const AveragedQuantity& a : averages) {
    if (a.bath_K && (tables.empty() || tables.back() != a.table)) tables.push_back(a.table);
  }
  for (const std::string& table : tables) {
    std::vector<std::string> quantities;
    std::map<double, std::map<std::string, std::string>> texts;  // by bath and quantity
    std::map<std::string, double> first;                         // mean in the first bath
    for (const AveragedQuantity& a : averages) {
      if (a.table != table || !a.bath_K) continue;
      texts[*a.bath_K][a.quantity] = mean_text(a);
      const double mean = first.try_emplace(a.quantity, a.mean).first->second;
      const bool varies = !is_constant(a) || std::abs(a.mean - mean) > 1e-12 * std::abs(mean);
      if (varies &&
          std::find(quantities.begin(), quantities.end(), a.quantity) == quantities.end()) {
        quantities.push_back(a.quantity);
      }
    }
    if (quantities.empty()) continue;
    if (table != tables.front()) terminal.info("");
    std::vector<std::vector<std::string>> rows{{table}};
    rows[0].insert(rows[0].end(), quantities.begin(), quantities.end());
    for (auto& [bath_K, of_bath] : texts) {
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(fmt::format("{:g} K", bath_K));
      for (const std::string& quantity : quantities) row.push_back(of_bath[quantity]);
    }
    terminal.info(aligned_rows(rows));
  }
  for (const AveragedQuantity& a : averages) {
    if (a.bath_K || is_of_peak(a)) continue;
    terminal.info(fmt::format("{} {}: {}", a.table, a.quantity, mean_text(a)));
  }
}

void print_run_averages(const std::vector<AveragedQuantity>& averages, const Deck& deck,
                        Terminal& terminal) {
  if (averages.empty()) return;
  const auto print = averages.front().bath_K ? print_averages_by_bath : print_averages;
  print(averages, fmt::format("averages after {:g} ps", deck.run.equilibration_ps), terminal);
  if (deck.run.equilibration_ps == 0.0) {
    terminal.info("the averages include the start of the run; [run] equilibration_ps excludes it");
  }
}

/// Other temperatures are suggested if the lowest acceptance is below this part of that of an even
/// ladder.
constexpr double kMinAcceptanceRatio = 0.5;

void print_exchange(const std::optional<ExchangeSummary>& exchange, Terminal& terminal) {
  if (!exchange) return;
  const StructureChanges& changes = exchange->structure_changes;
  terminal.info(fmt::format(
      "exchange: {} round trips between the lowest and the highest {}, {:.2g} per walker, {:.3g} "
      "per walker and ns{}",
      exchange->round_trips, exchange->has_windows ? "window" : "temperature",
      exchange->round_trips_per_state, exchange->round_trips_per_ns,
      changes.what == std::string_view("round trips")
          ? ""
          : fmt::format("; {:.1f} {} per walker", changes.per_walker, changes.what)));
  if (!exchange->equal_acceptance_ladder) return;
  double lowest = 1.0;
  for (const ExchangePair& p : exchange->pairs) lowest = std::min(lowest, p.acceptance);
  if (lowest > kMinAcceptanceRatio * exchange->equal_acceptance_ladder->acceptance) return;
  std::vector<std::string> temperatures_K;
  for (const double t_K : exchange->equal_acceptance_ladder->temperatures_K) {
    temperatures_K.push_back(fmt::format("{:.4g}", t_K));
  }
  terminal.info(fmt::format(
      "temperatures_K = [{1}] would give an acceptance of {0:.0f} % between all neighbours",
      100.0 * exchange->equal_acceptance_ladder->acceptance, fmt::join(temperatures_K, ", ")));
}

void print_result(const RunResult& result, const Deck& deck, Terminal& terminal) {
  if (result.already_finished) {
    terminal.info(fmt::format("{} has already reached step {}; increase run.steps to continue",
                              deck.name, result.steps_done));
  } else {
    terminal.info(fmt::format("{} on {}: step {} after {}, {}", deck.name, result.device,
                              result.steps_done, duration_text(result.wall_seconds),
                              speed_text(result.steps_per_second, result.ns_per_day_per_replica,
                                         result.ns_per_day_total)));
    print_run_averages(result.averages, deck, terminal);
    print_exchange(result.exchange, terminal);
  }
  if (!result.blow_ups.empty()) {
    terminal.warning(fmt::format("{} of {} replicas failed; see {}/run.json for the reasons",
                                 result.blow_ups.size(), deck.system.replicas, result.out_dir));
  }
  if (const std::string text = pictures_text(result.pictures); !text.empty()) terminal.info(text);
  terminal.info("files are in " + result.out_dir);
}

void run(Arguments& a, Events& events, int& exit_code) {
  const Deck deck = a.load();
  Terminal terminal(a.quiet);
  RunOptions options;
  a.apply_to(options, terminal, events);
  options.resume = a.resume;
  bool has_checkpoint = false;
  options.on_start = [&](const RunStart& start) {
    has_checkpoint = a.resume;
    if (a.resume) {
      terminal.info(fmt::format(
          "resuming from the checkpoint of step {}; later output is rewritten", start.first_step));
    }
    if (start.parts.size() > 1) {
      for (const std::string& line : part_lines(start.parts)) terminal.info(line);
    }
    events.started(start);
  };
  options.on_checkpoint = [&](std::int64_t step) {
    has_checkpoint = true;
    events.checkpoint(step);
  };

  terminal.print(decks::messages_on(deck));
  terminal.print(a.warning_of_threads(deck));

  RunResult result;
  try {
    result = run_deck(deck, options, {{}, engine_maker()});
  } catch (const IoError& error) {
    const bool is_layout = dynamic_cast<const LayoutError*>(&error) != nullptr;
    if (!has_checkpoint || is_layout) throw;
    const std::string what = error.what();
    throw IoError(fmt::format(
        "{}{} The last checkpoint is kept: solve the problem, then continue the run with --resume.",
        what, what.ends_with('.') ? "" : "."));
  }
  terminal.close_bar();
  if (!result.blow_ups.empty()) exit_code = static_cast<int>(ExitCode::numerical);
  if (result.interrupted) exit_code = interrupted_exit_code();
  events.ended(result.out_dir, result.interrupted, exit_code);
  print_result(result, deck, terminal);
  if (result.interrupted) {
    terminal.warning("interrupted; continue with: tarn run " + a.command_line(result.out_dir) +
                     " --resume");
  }
}

}  // namespace

void add_run(Command& app) {
  const auto [command, a] =
      app.add_subcommand("run", "run a simulation", run_with_events<run, Arguments>);
  a->add_to(*command, "output folder; default: out/<name of the deck>",
            "replace the run in the output folder");
  command->add_flag("--resume", a->resume, "continue from the checkpoint in the output folder");
}

}  // namespace tarn::cli
