#pragma once

#include <optional>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// @throws DeviceError if the requested device is a GPU, because mechanical systems run on the CPU
void refuse_cuda(const std::optional<std::string>& device);

/// Runs a mechanical deck and writes tables, pictures, run.json and a checkpoint to a folder.
/// @throws as run_deck(); NumericalError if the scheme fails, after writing all files and the last
///         good state, blow-up-0000.csv
RunResult run_mechanics(const Deck& deck, const RunOptions& options);

}  // namespace tarn
