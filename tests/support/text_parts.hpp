#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scratch_folder.hpp"

namespace tarn::test {

/// Checks pairs of a text and a part that it must contain.
inline void expect_parts(const std::vector<std::pair<std::string, std::string>>& texts_and_parts) {
  for (const auto& [text, part] : texts_and_parts) EXPECT_TRUE(contains(text, part));
}

}  // namespace tarn::test
