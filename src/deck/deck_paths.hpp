#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "source.hpp"
#include "tarn/deck.hpp"

namespace tarn::decks {

/// A path relative to the folder of the deck; absolute paths stay.
std::filesystem::path from_the_deck(const Deck& deck, const std::string& path);

/// For the message on a path that does not exist: the folder that relative paths start from and, if
/// the file is in the current folder, what to write instead. Empty for absolute paths.
std::string missing_path_hint(const Deck& deck, const std::string& path);

/// @param option command line option of the changes
inline std::vector<Override> given_by(const std::string& option,
                                      const std::vector<std::string>& texts) {
  std::vector<Override> changes;
  for (const std::string& text : texts) changes.push_back({text, option + " " + text});
  return changes;
}

}  // namespace tarn::decks
