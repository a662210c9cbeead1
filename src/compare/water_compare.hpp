#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tarn/compare.hpp"
#include "water_variants.hpp"

namespace tarn {

/// Runs the variants of a deck of water side by side, and writes tables and pictures.
/// @param schemes as given; variants may be several of each
/// @param begin called once starts and engines are there, before anything is written
void compare_water(const Deck& deck, const std::vector<Variant>& variants,
                   const std::vector<std::string>& schemes, const CompareOptions& options,
                   const std::function<void()>& begin, CompareResult& result);

}  // namespace tarn
