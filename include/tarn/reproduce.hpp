#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tarn/compare.hpp"
#include "tarn/core/message.hpp"

/// @file
/// Regenerates the pages of docs/results from their decks.

namespace tarn {

struct ReproduceOptions;

/// How long a page takes on four cores: up to a minute, or up to an hour.
enum class Cost { seconds, minutes };

/// One page of results.
struct Reproduction {
  std::string name{};  ///< of the files and of the argument of `tarn reproduce`
  std::string title{};
  Cost cost = Cost::seconds;
  std::string deck{};                    ///< file in the folder of decks; empty: none
  std::vector<std::string> overrides{};  ///< of that deck
  std::vector<std::string> schemes{};    ///< compared on the page
  std::string summary{};                 ///< Markdown: what was measured, and the results
  std::string paper{};                   ///< Markdown: the published result; empty: none
  void (*make)(const Reproduction&, const ReproduceOptions&) = nullptr;  ///< writes the files
};

/// All pages, in the order of the papers.
const std::vector<Reproduction>& reproductions();

struct ReproduceOptions {
  std::string inputs_dir = "inputs";
  std::string out_dir = "docs/results";
  int threads = 0;
  EngineMaker make_engine;  ///< of the runs and comparisons of water; empty: tarn::make_engine
  /// For tests: larger clusters are left out, and runs and timings are shortened to this share.
  /// Pages that only compare schemes ignore both.
  int most_molecules = std::numeric_limits<int>::max();
  double share_of_time = 1.0;
  std::function<void(const std::string& name)> on_begin;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const Message&)> on_message;
};

/// Regenerates the named pages, or all pages if `names` is empty: the page `<name>.md`, the table
/// `<name>.csv` and the picture `<name>.svg` and `<name>.png`.
/// @throws InputError for an unknown name; what compare_schemes() and run_deck() throw
void reproduce(const std::vector<std::string>& names, const ReproduceOptions& options);

}  // namespace tarn
