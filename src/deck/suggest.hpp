#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::decks {

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions
/// and transpositions; case-insensitive.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// A known name and its distance.
struct NameSuggestion {
  std::string name;  ///< empty: no similar name
  std::size_t distance = 0;
};

/// The known name closest to a word.
NameSuggestion nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace tarn::decks
