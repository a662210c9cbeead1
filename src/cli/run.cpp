#include "tarn/run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "averages_text.hpp"
#include "commands.hpp"
#include "deck/notes.hpp"
#include "deck_arguments.hpp"
#include "progress_text.hpp"
#include "tarn/core/error.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

struct Arguments : DeckArguments {
  bool resume = false;
};

/// A table for each file with a row a bath and a column a quantity that varies.
void say_by_bath(const std::vector<AveragedQuantity>& averages, const std::string& head,
                 Terminal& terminal) {
  terminal.say(head + "; averages.csv has all, with correlation times");
  std::vector<std::string> tables;
  for (const AveragedQuantity& a : averages) {
    if (a.bath_K && (tables.empty() || tables.back() != a.table)) tables.push_back(a.table);
  }
  for (const std::string& table : tables) {
    std::vector<std::string> quantities;
    std::map<double, std::map<std::string, std::string>> texts;  // by bath and quantity
    std::map<std::string, double> first;                         // mean
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
    std::vector<std::vector<std::string>> rows{{table}};
    rows[0].insert(rows[0].end(), quantities.begin(), quantities.end());
    for (auto& [bath_K, of_bath] : texts) {
      std::vector<std::string>& row = rows.emplace_back();
      row.push_back(fmt::format("{:g} K", bath_K));
      for (const std::string& quantity : quantities) row.push_back(of_bath[quantity]);
    }
    for (const std::string& line : aligned(rows)) terminal.say(line);
  }
  for (const AveragedQuantity& a : averages) {
    if (!a.bath_K) terminal.say(fmt::format("{} {}: {}", a.table, a.quantity, mean_text(a)));
  }
}

void say_averages(const std::vector<AveragedQuantity>& averages, const Deck& deck,
                  Terminal& terminal) {
  if (averages.empty()) return;
  const auto say = averages.front().bath_K ? say_by_bath : say_each;
  say(averages, fmt::format("average from {:g} ps on", deck.run.equilibration_ps), terminal);
  say_what_is_short(averages, terminal);
  if (deck.run.equilibration_ps == 0.0) {
    terminal.say("the start is part of these averages; [run] equilibration_ps leaves it out");
  }
}

void say_conserved(const std::vector<ConservedQuantity>& conserved, Terminal& terminal) {
  if (conserved.empty()) return;
  std::vector<std::vector<std::string>> rows{
      {"conserved (conservation.csv)", "start", "largest change", "at the end"}};
  for (const ConservedQuantity& q : conserved) {
    rows.push_back({q.name, fmt::format("{:.6g}", q.start), fmt::format("{:.2g}", q.largest_change),
                    fmt::format("{:+.2g}", q.last_change)});
  }
  for (const std::string& line : aligned(rows)) terminal.say(line);
}

/// A ladder is even enough whose rarest exchange has this part of what an even one has.
constexpr double kEvenEnough = 0.5;

void say_exchange(const std::optional<ExchangeSummary>& exchange, Terminal& terminal) {
  if (!exchange) return;
  terminal.say(fmt::format(
      "exchange: {} round trips of states between the coldest and the hottest bath, {:.2g} each, "
      "{:.3g} a state and ns",
      exchange->round_trips, exchange->round_trips_each, exchange->round_trips_per_ns));
  if (!exchange->even) return;
  double least = 1.0;
  for (const ExchangePair& p : exchange->pairs) least = std::min(least, p.acceptance);
  if (least > kEvenEnough * exchange->even->acceptance) return;
  std::vector<std::string> temperatures_K;
  for (const double t_K : exchange->even->temperatures_K) {
    temperatures_K.push_back(fmt::format("{:.4g}", t_K));
  }
  terminal.say(fmt::format(
      "{:.0f} % of the attempts, between all neighbours, would succeed with temperatures_K = [{}]",
      100.0 * exchange->even->acceptance, fmt::join(temperatures_K, ", ")));
}

void run(const Arguments& a, Events& events, int& exit_code) {
  const Deck deck = a.load();
  Terminal terminal(a.quiet);
  RunOptions options;
  a.apply_to(options, terminal, events);
  options.resume = a.resume;
  bool can_go_on = false;  // from a checkpoint
  options.on_start = [&](const RunStart& start) {
    can_go_on = a.resume;
    if (a.resume) {
      terminal.say(
          fmt::format("goes on from its checkpoint of step {}; what was written after it "
                      "is written anew",
                      start.first_step));
    }
    events.started(start);
  };
  options.on_checkpoint = [&](std::int64_t step) {
    can_go_on = true;
    events.checkpoint(step);
  };

  for (const std::string& note : decks::notes_on(deck)) terminal.warning(note);
  if (const auto note = a.note_on_threads(deck)) terminal.warning(*note);

  RunResult result;
  try {
    result = run_deck(deck, options);
  } catch (const StartInterrupted& interruption) {
    exit_code = interrupted_exit_code();
    events.ended({}, true, exit_code);
    terminal.warning(interruption.what());
    return;
  } catch (const IoError& error) {
    const bool is_layout = dynamic_cast<const LayoutError*>(&error) != nullptr;
    if (!can_go_on || is_layout) throw;
    const std::string what = error.what();
    throw IoError(
        fmt::format("{}{} What was complete is kept: once this is mended, the run goes on with "
                    "--resume.",
                    what, what.ends_with('.') ? "" : "."));
  }
  terminal.close_bar();
  if (!result.blow_ups.empty()) exit_code = static_cast<int>(ExitCode::numerical);
  if (result.interrupted) exit_code = interrupted_exit_code();
  events.ended(result.out_dir, result.interrupted, exit_code);
  if (result.already_finished) {
    terminal.say(fmt::format("{} had reached step {} already; set run.steps to go further",
                             deck.name, result.steps_done));
  } else {
    terminal.say(fmt::format("{} on {}: step {} after {}, {}", deck.name, result.device,
                             result.steps_done, duration_text(result.wall_seconds),
                             speed_text(result.steps_per_second, result.ns_per_day_per_replica,
                                        result.ns_per_day_total)));
    say_averages(result.averages, deck, terminal);
    say_conserved(result.conserved, terminal);
    say_exchange(result.exchange, terminal);
  }
  if (!result.blow_ups.empty()) {
    terminal.warning(fmt::format("{} of {} replicas were stopped; {}/run.json tells why",
                                 result.blow_ups.size(), deck.system.replicas, result.out_dir));
  }
  for (const std::string& picture : result.pictures) terminal.say("picture: " + picture);
  terminal.say("files are in " + result.out_dir);
  if (result.interrupted) {
    terminal.warning("interrupted; go on with: tarn run " + a.words(result.out_dir) + " --resume");
  }
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "run a deck into a folder");
  a->add_to(*command, "folder for the files; default out/<name of the deck>",
            "replace the run that is in the folder");
  command->add_flag("--resume", a->resume, "go on from the checkpoint in the folder");
  command->callback([a, &exit_code] {
    catch_interrupts();
    Events events(a->json);
    try {
      run(*a, events, exit_code);
    } catch (const std::exception& error) {
      events.failed(error);
      throw;
    }
  });
}

}  // namespace tarn::cli
