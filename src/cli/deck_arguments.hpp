#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "command.hpp"
#include "core/processors.hpp"
#include "io/json.hpp"
#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"
#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"
#include "tarn/run.hpp"
#include "tarn/start.hpp"
#include "terminal.hpp"

namespace tarn::cli {

constexpr const char* kRanksHelp =
    "auto, or off: under mpirun or srun, run each process alone; default: TARN_RANKS, or auto";

/// Joins the other processes that mpirun or srun started, if the command uses ranks.
/// @param words of the command line
/// @return null if this process runs alone
/// @throws InputError if the processes cannot share a run, or were given different ones
std::unique_ptr<Ranks> join_ranks(const std::vector<std::string>& words);
/// Why the processes cannot work together; empty unless `tarn doctor` asks.
const std::string& ranks_problem();

/// Set once by main(). @param ranks null: this process runs alone
void set_ranks(Ranks* ranks);
Ranks* ranks();
/// Whether a signal should end the run: interrupted(), on any rank.
bool interrupted_on_any_rank();

/// Makes engines on all ranks; empty if this process runs alone.
EngineMaker engine_maker();

/// Prints events for other programs: one JSON object per line of standard output, each with the key
/// `event`. Prints nothing unless enabled. Enabled or not, it keeps the program running when the
/// reader of standard output or standard error exits.
class Events {
 public:
  explicit Events(bool enabled);

  void started(const RunStart& start);
  void progress(const Progress& progress) const;
  /// The event "note" or "warning".
  void message(const Message& message) const;
  void blow_up(const BlowUp& blow_up, const std::string& text) const;
  void checkpoint(std::int64_t step) const;
  /// The last line: `finished` or `interrupted`, with the files in the folder.
  void ended(const std::string& folder, bool interrupted, int exit_code) const;
  /// The last line after an exception.
  void failed(const std::exception& error) const;

 private:
  void write(const io::JsonObject& object) const;

  bool enabled_;
  std::string folder_;
};

/// A word for a shell, quoted if necessary.
inline std::string shell_quoted(const std::string& word) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// --ranks, which join_ranks() has obeyed.
inline void add_ranks_option(Command& command, std::string& ranks) {
  command.add_option("--ranks", ranks, kRanksHelp, one_of({"auto", "off"}));
}

/// A deck and the changes made to it by --set and --unset.
struct DeckOverrides {
  std::string deck;
  std::vector<std::string> set, unset;

  void add_override_options(Command& command) {
    command
        .add_option("--set", set,
                    "section.key=value: set a key of the deck, after all --unset; may be repeated")
        ->one_value_each();
    command
        .add_option("--unset", unset,
                    "section.key or section: remove it from the deck; may be repeated")
        ->one_value_each();
  }
  Deck load() const {
    refuse_split_changes();
    return load_deck(deck, set, unset);
  }
  /// @throws InputError if the value of a --set was taken for the deck
  void refuse_split_changes() const {
    std::error_code ignored;
    if (std::filesystem::exists(deck, ignored)) return;
    if (const auto problem = split_change_problem(set, {deck})) throw InputError(*problem);
  }
};

/// Arguments of the commands that run a deck.
struct DeckArguments : DeckOverrides {
  std::string out, device, ranks;
  std::optional<int> threads;
  bool overwrite = false, no_pictures = false, quiet = false, json = false;

  void add_to(Command& command, const std::string& out_help, const std::string& overwrite_help) {
    command.add_option("deck", deck, kDeckHelp)->required();
    command.add_option("-o,--out", out, out_help);
    command.add_option("--device", device,
                       fmt::format("{}; default: that of the deck", kDevicesHelp));
    command.add_option("--threads", threads,
                       "number of CPU threads, 0 for all; default: that of the deck",
                       number_of_threads());
    add_ranks_option(command, ranks);
    add_override_options(command);
    command.add_flag("--overwrite", overwrite, overwrite_help);
    command.add_flag("--no-pictures", no_pictures,
                     "draw no pictures; tarn plot draws those of a run later");
    command.add_flag("--quiet", quiet, "print only errors and warnings");
    command.add_flag("--json", json, "print events to standard output as JSON lines");
  }

  /// These arguments for a shell, with this output folder.
  std::string command_line(const std::string& folder) const {
    std::string text = shell_quoted(deck) + " --out " + shell_quoted(folder);
    if (!device.empty()) text += " --device " + shell_quoted(device);
    if (threads) text += " --threads " + std::to_string(*threads);
    if (!ranks.empty()) text += " --ranks " + ranks;
    for (const std::string& change : set) text += " --set " + shell_quoted(change);
    for (const std::string& change : unset) text += " --unset " + shell_quoted(change);
    return text;
  }

  /// Advice for a run with more threads than processors, which would be slower.
  std::optional<Message> warning_of_threads(const Deck& loaded) const {
    const int given = threads.value_or(loaded.run.threads);
    const int count = given > 0 ? given : default_threads();
    if (count <= processors()) return std::nullopt;
    return Message::warning(fmt::format(
        "{} threads ({}) for {}: this slows the run down and does not change its results. Use "
        "--threads {}",
        count, given > 0 ? "as requested" : "from OMP_NUM_THREADS",
        count_text(processors(), "processor"), processors()));
  }

  /// Sets the options that RunOptions and CompareOptions share.
  template <class Options>
  void apply_to(Options& options, Terminal& terminal, Events& events) const {
    options.out_dir = out;
    options.overwrite = overwrite;
    options.pictures = !no_pictures;
    if (!device.empty()) options.device = device;
    options.threads = threads;
    options.on_start = [&events](const RunStart& start) { events.started(start); };
    options.on_preparation = [&terminal](int done, int replicas) {
      terminal.preparation_progress(done, replicas);
    };
    options.on_progress = [&](const Progress& p) {
      terminal.progress(p);
      events.progress(p);
    };
    options.on_message = [&](const Message& message) {
      terminal.print(message);
      events.message(message);
    };
    options.on_blow_up = [&events](const BlowUp& blow_up, const std::string& text) {
      events.blow_up(blow_up, text);
    };
    options.interrupted = interrupted_on_any_rank;
  }
};

/// Runs a command with the events of --json; an exception becomes the last event.
/// @tparam command void(Arguments&, Events&, int& exit_code)
template <auto command, class Arguments>
void run_with_events(Arguments& arguments, int& exit_code) {
  catch_interrupts();
  Events events(arguments.json);
  try {
    command(arguments, events, exit_code);
  } catch (const StartInterrupted& interruption) {
    exit_code = interrupted_exit_code();
    events.ended({}, true, exit_code);
    Terminal(arguments.quiet).warning(interruption.what());
  } catch (const std::exception& error) {
    events.failed(error);
    throw;
  }
}

}  // namespace tarn::cli
