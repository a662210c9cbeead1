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
struct Suggestion {
  std::string name;  ///< empty: nothing is near
  std::size_t distance = 0;
};

/// The known name that was probably meant.
Suggestion nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace tarn::decks
