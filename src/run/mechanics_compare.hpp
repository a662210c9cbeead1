#pragma once

#include <string>
#include <vector>

#include "tarn/compare.hpp"

namespace tarn {

/// compare_schemes() of a mechanical system. @param variants the deck with each scheme
/// @param result has the folder, which exists
void compare_mechanics(const std::vector<Deck>& variants, const std::vector<std::string>& schemes,
                       const CompareOptions& options, CompareResult& result);

}  // namespace tarn
