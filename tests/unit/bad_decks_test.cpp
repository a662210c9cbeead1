#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"

// Every deck of tests/data/bad-decks begins with its problems, one per line, in the order of the
// messages:
//   # expect LINE:COLUMN fragment of the message
// where 0:0 is the deck as a whole.

namespace tarn {
namespace {

namespace fs = std::filesystem;

struct Expected {
  int line = 0;
  int column = 0;
  std::string fragment;
};

std::vector<Expected> read_expected(const std::string& path) {
  std::ifstream file(path);
  std::vector<Expected> all;
  const std::string mark = "# expect ";
  for (std::string line; std::getline(file, line) && line.rfind(mark, 0) == 0;) {
    std::istringstream text(line.substr(mark.size()));
    Expected expected;
    char colon = 0;
    text >> expected.line >> colon >> expected.column >> std::ws;
    std::getline(text, expected.fragment);
    all.push_back(expected);
  }
  return all;
}

std::vector<std::string> bad_decks() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(TARN_SOURCE_DIR "/tests/data/bad-decks")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class BadDeck : public testing::TestWithParam<std::string> {};

TEST_P(BadDeck, IsRefusedWithEveryProblem) {
  const std::string& path = GetParam();
  const std::vector<Expected> expected = read_expected(path);
  ASSERT_FALSE(expected.empty()) << "the deck does not say what is wrong with it";
  try {
    load_deck(path);
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    SCOPED_TRACE(error.what());
    const std::vector<Problem>& problems = error.problems();
    ASSERT_EQ(problems.size(), expected.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      EXPECT_EQ(problems[i].file, path);
      EXPECT_EQ(problems[i].line, expected[i].line);
      EXPECT_EQ(problems[i].column, expected[i].column);
      EXPECT_NE(problems[i].message.find(expected[i].fragment), std::string::npos)
          << expected[i].fragment;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Decks, BadDeck, testing::ValuesIn(bad_decks()), [](const auto& deck) {
  std::string name = fs::path(deck.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(BadDecks, AreMany) { EXPECT_GE(bad_decks().size(), 100u); }

}  // namespace
}  // namespace tarn
