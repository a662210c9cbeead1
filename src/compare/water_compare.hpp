#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tarn/compare.hpp"
#include "water_variants.hpp"

namespace tarn {

/// Runs the variants of a water deck interleaved, and writes tables and pictures.
/// @param begin called when initial states and engines are ready, before anything is written
void compare_water(const Deck& deck, const std::vector<Variant>& variants,
                   const CompareOptions& options, const std::function<void()>& begin,
                   CompareResult& result);

}  // namespace tarn
