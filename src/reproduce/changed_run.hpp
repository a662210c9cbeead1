#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tarn/reproduce.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Runs a deck of a page on the CPU; the output folder may exist.
/// @param observers in addition to those of the deck
/// @throws what run_deck() throws
RunResult run_page_deck(const Deck& deck, const ReproduceOptions& options,
                        const std::string& folder,
                        const std::vector<ObserverMaker>& observers = {});

/// Runs the deck of a page with changes, in a temporary folder. The run covers the deck's time span
/// also if a change sets another time step.
/// @param read_files is called with the folder before it is removed; may be empty
/// @throws what run_deck() throws
RunResult run_changed(const Reproduction& reproduction, const ReproduceOptions& options,
                      std::vector<std::string> overrides,
                      const std::vector<std::string>& removals = {},
                      const std::function<void(const std::string& folder)>& read_files = {});

}  // namespace tarn
