#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::decks {

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, changes and
/// swaps of neighbours; the case of letters is ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// A known name and how far it is.
struct NameSuggestion {
  std::string name;  ///< empty: nothing is near
  std::size_t distance = 0;
};

/// The known name that was probably meant.
NameSuggestion nearest(std::string_view choice, const std::vector<std::string_view>& known);

}  // namespace tarn::decks
