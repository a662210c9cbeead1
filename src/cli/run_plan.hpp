#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deck/checker.hpp"

namespace tarn::cli {

/// What a run of a deck will do, in a few lines: system, scheme, length, files and, for water, the
/// estimated time.
/// @param given the checker that read the deck, which knows the keys that it contains
/// @param molecules per cluster
/// @param potential_seconds estimated time of the run in its potential, if that was measured
std::vector<std::string> run_plan(const Deck& deck, const decks::Checker& given, int molecules,
                                  std::optional<double> potential_seconds);

}  // namespace tarn::cli
