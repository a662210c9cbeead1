#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/processors.hpp"
#include "events.hpp"
#include "tarn/deck.hpp"
#include "terminal.hpp"
#include "whole_number.hpp"

namespace tarn::cli {

/// A word as a shell takes it: in quotes where it needs them.
inline std::string in_quotes(const std::string& word) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// A deck, and what the command line changes in it.
struct ChangedDeck {
  std::string deck;
  std::vector<std::string> set, unset;

  void add_changes_to(CLI::App& command) {
    command
        .add_option(
            "--set", set,
            "section.key=value, replaces a key of the deck or adds one; once for each; after "
            "--unset")
        ->allow_extra_args(false);
    command
        .add_option("--unset", unset, "section.key or section, which the deck is then read without")
        ->allow_extra_args(false);
  }
  Deck load() const { return load_deck(deck, set, unset); }
};

/// What the commands that run a deck have in common.
struct DeckArguments : ChangedDeck {
  std::string out, device;
  std::optional<int> threads;
  bool overwrite = false, quiet = false, json = false;

  void add_to(CLI::App& command, const std::string& out_help, const std::string& overwrite_help) {
    command.add_option("deck", deck, "the deck, a TOML file")->required();
    command.add_option("-o,--out", out, out_help);
    command.add_option("--device", device, "auto, cpu, cuda or cuda:<number>");
    command
        .add_option("--threads", threads,
                    "threads of the CPU, instead of the deck's; 0: all of them")
        ->check(number_of_threads());
    add_changes_to(command);
    command.add_flag("--overwrite", overwrite, overwrite_help);
    command.add_flag("--quiet", quiet, "no progress; errors and warnings are still shown");
    command.add_flag("--json", json, "tell standard output what happens, one JSON object a line");
  }

  /// The arguments again, as a shell takes them, with this folder.
  std::string words(const std::string& folder) const {
    std::string text = in_quotes(deck) + " --out " + in_quotes(folder);
    if (!device.empty()) text += " --device " + in_quotes(device);
    if (threads) text += " --threads " + std::to_string(*threads);
    for (const std::string& change : set) text += " --set " + in_quotes(change);
    for (const std::string& change : unset) text += " --unset " + in_quotes(change);
    return text;
  }

  /// Where a run would have more threads than there are processors for this process, which makes it
  /// slower: what to do about it.
  std::optional<std::string> note_on_threads(const Deck& loaded) const {
    const int given = threads.value_or(loaded.run.threads);
    const int count = given > 0 ? given : default_threads();
    if (is_mechanical(loaded.system.kind) || count <= processors()) return std::nullopt;
    return fmt::format(
        "{} threads, {}, for {}: more than there are make a run slower, and change no "
        "result; give --threads {}",
        count, given > 0 ? "as asked for" : "as OMP_NUM_THREADS says",
        processors() == 1 ? "1 processor" : fmt::format("{} processors", processors()),
        processors());
  }

  /// Fills the options that RunOptions and CompareOptions share, and catches interrupts.
  template <class Options>
  void apply_to(Options& options, Terminal& terminal, Events& events) const {
    options.out_dir = out;
    options.overwrite = overwrite;
    if (!device.empty()) options.device = device;
    options.threads = threads;
    options.on_start = [&events](const RunStart& start) { events.started(start); };
    options.on_making_start = [&terminal](int done, int replicas) {
      terminal.making_start(done, replicas);
    };
    options.on_progress = [&](const Progress& p) {
      terminal.progress(p);
      events.progress(p);
    };
    options.on_warning = [&](const std::string& text) {
      terminal.warning(text);
      events.warning(text);
    };
    options.on_blow_up = [&events](const BlowUp& blow_up, const std::string& text) {
      events.blow_up(blow_up, text);
    };
    options.interrupted = interrupted;
  }
};

}  // namespace tarn::cli
