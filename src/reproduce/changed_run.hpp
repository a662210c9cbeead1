#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tarn/reproduce.hpp"
#include "tarn/run.hpp"

namespace tarn {

/// Of the runs of a figure: on the CPU, into a folder that may be there.
RunOptions run_options(const ReproduceOptions& options, const std::string& folder);

/// Runs the deck of a figure, changed, in a folder that goes away, for as much time as the deck
/// says with whatever step.
/// @param look at the folder before it does; null: no need
/// @throws what run_deck() throws
RunResult run_changed(const Reproduction& reproduction, const ReproduceOptions& options,
                      std::vector<std::string> overrides,
                      const std::vector<std::string>& removals = {},
                      const std::function<void(const std::string& folder)>& look = {});

}  // namespace tarn
