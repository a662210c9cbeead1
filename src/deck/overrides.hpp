#pragma once

#include <string>
#include <vector>

#include "source.hpp"

namespace tarn::decks {

/// @param option command line option of the changes
inline std::vector<Override> given_by(const std::string& option,
                                      const std::vector<std::string>& texts) {
  std::vector<Override> changes;
  for (const std::string& text : texts) changes.push_back({text, option + " " + text});
  return changes;
}

}  // namespace tarn::decks
