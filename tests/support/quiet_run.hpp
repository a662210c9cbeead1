#pragma once

#include "tarn/run.hpp"
#include "testing.hpp"

namespace tarn::test {

/// Options of a run into a folder, without pictures.
inline RunOptions quiet_run(const std::string& out_dir, std::optional<int> threads = {}) {
  RunOptions options;
  options.out_dir = out_dir;
  options.pictures = false;
  options.threads = threads;
  return options;
}

/// Runs the text of a deck into the folder `out`, without pictures.
inline RunResult run_text(const std::string& deck, const ScratchFolder& folder,
                          std::optional<int> threads = {}) {
  return run_deck(parse_deck(deck, "deck.toml"), quiet_run(folder.file("out"), threads));
}

}  // namespace tarn::test
