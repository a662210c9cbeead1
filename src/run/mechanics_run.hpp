#pragma once

#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Runs a mechanical deck into a folder: tables, pictures, run.json, checkpoint.
/// @throws as run_deck(); NumericalError when the scheme fails, after the rows before were written
RunResult run_mechanics(const Deck& deck, const RunOptions& options);

}  // namespace tarn
