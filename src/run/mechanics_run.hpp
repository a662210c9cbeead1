#pragma once

#include <optional>
#include <string>

#include "tarn/deck.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// @throws DeviceError when a device is asked for that mechanical systems do not run on
void refuse_cuda(const std::optional<std::string>& device);

/// Runs a mechanical deck into a folder: tables, pictures, run.json, checkpoint.
/// @throws as run_deck(); NumericalError when the scheme fails, after all files of the steps before
///         were written, and the last state to blow-up-0000.csv
RunResult run_mechanics(const Deck& deck, const RunOptions& options);

}  // namespace tarn
