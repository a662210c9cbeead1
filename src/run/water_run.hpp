#pragma once

#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Runs a water deck, see run_deck(). @param parts none may be empty
RunResult run_water(const Deck& deck, const RunOptions& options, const RunFactories& parts);

}  // namespace tarn
