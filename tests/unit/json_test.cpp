#include "io/json.hpp"

#include "json_reader.hpp"
#include "testing.hpp"

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

/// Long lists are broken, and no value changes.
TEST(Json, HasNoLongLines) {
  std::vector<std::string> numbers, rows, texts;
  for (std::int64_t k = 0; k < 200; ++k) {
    numbers.push_back(json(k % 2 == 0 ? 1.0 / 3.0 : -1.0 * static_cast<double>(k)));
    JsonObject row;
    row.add("k", json(k)).add("text", json(std::string_view("], \"a\": {\\"))).add("x", "[1, 2]");
    rows.push_back(row.line());
    texts.push_back(json(std::string_view("b, [c")));
  }
  JsonObject inner;
  inner.add("rows", json_array(rows)).add("few", json_array({"1", "2"})).add("empty", "[]");
  JsonObject object;
  object.add("numbers", json_array(numbers)).add("texts", json_array(texts));
  object.add("inner", inner.line()).add("none", "{}");
  const std::string text = object.text();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
  const test::Json read = test::json_of(text), same = test::json_of(object.line());
  for (const char* key : {"numbers", "texts"}) {
    ASSERT_EQ(read[key].items.size(), 200u);
    for (std::size_t k = 0; k < 200; ++k) {
      EXPECT_EQ(read[key].items[k].number, same[key].items[k].number);
      EXPECT_EQ(read[key].items[k].text, same[key].items[k].text);
    }
  }
  ASSERT_EQ(read["inner"]["rows"].items.size(), 200u);
  EXPECT_EQ(read["inner"]["rows"].items[7]["text"].text,
            same["inner"]["rows"].items[7]["text"].text);
  EXPECT_NE(text.find("\"few\": [1, 2],"), std::string::npos);
}

}  // namespace
}  // namespace tarn::io
