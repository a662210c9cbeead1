

#include "tarn/deck.hpp"
#include "testing.hpp"

// Each file of tests/data/bad-decks contains decks after lines "=== name". Below a line of a deck
// stand its problems, each a caret under their column and a fragment of the message; "^^" precedes
// problems of the deck as a whole. Sections above the first name are appended to each deck that
// lacks them, unless "alone" follows its name.

namespace tarn {
namespace {

namespace fs = std::filesystem;

struct BadDeck {
  std::string name;
  std::vector<std::string> lines;
  std::vector<Problem> problems;  ///< fragments of their messages

  void add(const std::string& line) {
    const std::size_t caret = line.find_first_not_of(' ');
    if (line.starts_with("^^ ")) {
      problems.push_back({"", 0, 0, line.substr(3)});
    } else if (caret != std::string::npos && line[caret] == '^') {
      problems.push_back({"", static_cast<int>(lines.size()), static_cast<int>(caret) + 1,
                          line.substr(caret + 2)});
    } else {
      lines.push_back(line);
    }
  }
  std::string text(const std::vector<std::string>& sections) const {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    if (name.ends_with(" alone")) return all;
    bool lacks = false;
    for (const std::string& line : sections) {
      if (line.starts_with('[')) lacks = std::ranges::find(lines, line) == lines.end();
      if (lacks) all += line + '\n';
    }
    return all;
  }
};

class BadDecks : public testing::TestWithParam<std::string> {};

TEST_P(BadDecks, AreRefusedWithEveryProblem) {
  std::ifstream file(TARN_SOURCE_DIR "/tests/data/bad-decks/" + GetParam() + ".decks");
  std::vector<BadDeck> decks(1);  // the first has the sections for all
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      decks.push_back({line.substr(4), {}, {}});
    } else {
      decks.back().add(line);
    }
  }
  EXPECT_GT(decks.size(), 5u);
  const test::ScratchFolder folder;
  const std::string path = folder.file("deck.toml");
  for (std::size_t k = 1; k < decks.size(); ++k) {
    SCOPED_TRACE(decks[k].name);
    const std::vector<Problem>& expected = decks[k].problems;
    ASSERT_FALSE(expected.empty()) << "the deck does not say what is wrong with it";
    test::write_text(path, decks[k].text(decks[0].lines));
    try {
      load_deck(path);
      ADD_FAILURE() << "it was accepted";
    } catch (const InputError& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      SCOPED_TRACE(error.what());
      const std::vector<Problem>& problems = error.problems();
      EXPECT_EQ(problems.size(), expected.size());
      for (std::size_t i = 0; i < std::min(problems.size(), expected.size()); ++i) {
        EXPECT_EQ(problems[i].file, path);
        EXPECT_EQ(problems[i].line, expected[i].line);
        EXPECT_EQ(problems[i].column, expected[i].column);
        EXPECT_TRUE(test::contains(problems[i].message, expected[i].message));
      }
    }
  }
}

std::vector<std::string> topics() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(TARN_SOURCE_DIR "/tests/data/bad-decks")) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Topics, BadDecks, testing::ValuesIn(topics()), [](const auto& topic) {
  std::string name = topic.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tarn
