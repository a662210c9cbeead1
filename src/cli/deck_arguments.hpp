#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "terminal.hpp"

namespace tarn::cli {

/// What the commands that run a deck have in common.
struct DeckArguments {
  std::string deck, out, device;
  int threads = 0;
  std::vector<std::string> set;
  bool overwrite = false, quiet = false;

  void add_to(CLI::App& command, const std::string& out_help, const std::string& overwrite_help) {
    command.add_option("deck", deck, "the deck, a TOML file")->required();
    command.add_option("--out", out, out_help);
    command.add_option("--device", device, "auto, cpu, cuda or cuda:<number>");
    command.add_option("--threads", threads, "threads of the CPU; default all");
    command.add_option("--set", set, "section.key=value, replaces a key of the deck")
        ->allow_extra_args(false);
    command.add_flag("--overwrite", overwrite, overwrite_help);
    command.add_flag("--quiet", quiet, "no progress; errors and warnings are still shown");
  }

  /// Fills the options that RunOptions and CompareOptions share, and catches interrupts.
  template <class Options>
  void apply_to(Options& options, Terminal& terminal) const {
    options.out_dir = out;
    options.overwrite = overwrite;
    if (!device.empty()) options.device = device;
    if (threads > 0) options.threads = threads;
    options.on_progress = [&terminal](const Progress& p) { terminal.progress(p); };
    options.on_warning = [&terminal](const std::string& text) { terminal.warning(text); };
    options.interrupted = interrupted;
  }
};

}  // namespace tarn::cli
