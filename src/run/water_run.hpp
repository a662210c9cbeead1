#pragma once

#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Runs a deck of water into a folder, as run_deck(). @param parts none of them empty
RunResult run_water(const Deck& deck, const RunOptions& options, const RunFactories& parts);

}  // namespace tarn
