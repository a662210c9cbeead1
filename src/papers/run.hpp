#pragma once

#include <memory>
#include <string>

#include "deck.hpp"
#include "dynamics.hpp"

namespace tarn::papers {

/// The deck, with missing masses, lengths and initial data taken from the paper.
PaperDeck with_initial_data(PaperDeck deck);

/// @param deck must outlive the case
/// @throws InputError if a scheme with constraints cannot start from the given data
std::unique_ptr<Case> make_case(const PaperDeck& deck);

struct Options {
  std::string out_dir;  ///< empty: out/<name of the deck>
  bool overwrite = false;
  bool pictures = true;
  /// Time for repetitions of all steps, without tables, whose shortest core time run.json contains;
  /// 0: none.
  double timing_s = 0.0;
};

/// Runs a deck and writes its tables, pictures and run.json to a folder.
/// @return text for the terminal
/// @throws InputError, IoError; NumericalError if the scheme fails, after writing all rows up to
/// the
///         failure and the last good state, blow-up-0000.csv
std::string run_deck(const PaperDeck& deck, const Options& options);

}  // namespace tarn::papers
