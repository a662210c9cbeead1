#pragma once

#include <string>
#include <vector>

#include "deck/checker.hpp"

namespace tarn::cli {

/// What a run of a deck will do, in a few lines: system, scheme, length, files and, for water on
/// the CPU, the estimated time on this machine.
/// @param given the checker that read the deck, which knows the keys that it contains
/// @param molecules per cluster; ignored for mechanical systems
std::vector<std::string> run_plan(const Deck& deck, const decks::Checker& given, int molecules);

}  // namespace tarn::cli
