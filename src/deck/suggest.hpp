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

/// The known name closest to a word. Names with other digits are other things: "rk5", "rk4".
NameSuggestion nearest(std::string_view word, const std::vector<std::string_view>& known);

/// The water model of which a word is a misspelling: most similar names are other models.
NameSuggestion nearest_model(std::string_view word, const std::vector<std::string_view>& known);

/// " (did you mean "name"?)"; empty without a name.
std::string did_you_mean(std::string_view name);

}  // namespace tarn::decks
