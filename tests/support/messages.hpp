#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tarn/core/message.hpp"

namespace tarn::test {

/// The texts of messages of all levels.
inline std::vector<std::string> texts(const Messages& messages) {
  std::vector<std::string> all;
  for (const Message& message : messages) all.push_back(message.text);
  return all;
}

/// Expects as many messages as parts, each with its part.
inline void expect_messages(const Messages& messages,
                            std::initializer_list<std::string_view> parts) {
  ASSERT_EQ(messages.size(), parts.size()) << ::testing::PrintToString(texts(messages));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_NE(messages[i].text.find(parts.begin()[i]), std::string::npos) << messages[i].text;
  }
}

}  // namespace tarn::test
