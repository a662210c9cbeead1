#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tarn/analysis/halves.hpp"

namespace tarn {

/// What to tell of a quantity whose mean does not move in equilibrium and did, by more than chance:
/// in the mean of the baths, or in one of them.
/// @param from_first_half,from_beginning of each bath, the rises that Halves tells
std::optional<std::string> note_on_equilibrium(
    std::string_view quantity, std::span<const analysis::Halves::Rise> from_first_half,
    std::span<const analysis::Halves::Rise> from_beginning);

}  // namespace tarn
