#include "tarn/io/json.hpp"

#include <gtest/gtest.h>

namespace tarn::io {
namespace {

std::string quoted(std::string_view text) { return json(text); }

TEST(Json, EscapesSpecialCharacters) {
  EXPECT_EQ(quoted("a \"b\" \\ \n\t\x01"), "\"a \\\"b\\\" \\\\ \\n\\t\\u0001\"");
}

/// File names may contain any bytes, JSON only UTF-8.
TEST(Json, IsUtf8ForAnyText) {
  for (const char* valid : {"", "Å", "€", "😀", "a\xc3\xa9z"}) {
    EXPECT_EQ(quoted(valid), '"' + std::string(valid) + '"');
  }
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(quoted("b\xff.toml"), "\"b" + mark + ".toml\"");
  EXPECT_EQ(quoted("cut \xe2\x82"), "\"cut " + mark + mark + '"');
  EXPECT_EQ(quoted("\xc0\xaf"), '"' + mark + mark + '"') << "longer than need be";
  EXPECT_EQ(quoted("\xed\xa0\x80"), '"' + mark + mark + mark + '"') << "half of a pair";
}

}  // namespace
}  // namespace tarn::io
