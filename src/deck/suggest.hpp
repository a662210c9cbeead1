#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::deck {

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, changes and
/// swaps of neighbours; the case of letters is ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that was probably meant, or an empty string when none is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace tarn::deck
