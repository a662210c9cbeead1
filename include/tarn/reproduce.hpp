#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tarn/compare.hpp"

/// @file
/// Figures and statements of the papers, made again from the decks.

namespace tarn {

struct ReproduceOptions;

/// One figure or statement: a deck, the schemes to put side by side, and what the paper says.
struct Reproduction {
  std::string name;
  std::string title;
  std::string deck;  ///< file in the folder of decks
  std::vector<std::string> overrides;
  std::vector<std::string> schemes;
  std::string paper;  ///< what the paper states, in our words, with the place
  std::string ours;   ///< what to look for in our table
  /// Writes the files of one that is no comparison of schemes and has no deck; null for the others.
  void (*make)(const Reproduction&, const ReproduceOptions&) = nullptr;
};

/// All of them, in the order of the papers.
const std::vector<Reproduction>& reproductions();

struct ReproduceOptions {
  std::string inputs_dir = "inputs";
  std::string out_dir = "docs/results";
  int threads = 0;
  /// Of `scheme-cost`, `chain-cost`, `slow-manifold`, `growth`, `precision`, `melting`, `exchange`,
  /// `spectrum` and `dynamics`, so that a test can make them: larger clusters are left out, and
  /// runs and timings last this share of what they should.
  int most_molecules = std::numeric_limits<int>::max();
  double share_of_time = 1.0;
  std::function<void(const std::string& name)> on_begin;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_warning;
};

/// Makes the named ones (all if there are none): `<name>.md` with the table and the paper's
/// statement, `<name>.csv` and the picture `<name>.svg` and `.png`.
/// @throws InputError for an unknown name; whatever compare_schemes() throws
void reproduce(const std::vector<std::string>& names, const ReproduceOptions& options);

}  // namespace tarn
