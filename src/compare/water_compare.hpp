#pragma once

#include <string>
#include <vector>

#include "tarn/compare.hpp"
#include "water_variants.hpp"

namespace tarn {

/// Runs the variants of a deck of water side by side, and writes tables and pictures.
/// @param schemes as given; variants may be several of each
void compare_water(const Deck& deck, const std::vector<Variant>& variants,
                   const std::vector<std::string>& schemes, const CompareOptions& options,
                   CompareResult& result);

}  // namespace tarn
