#include "tarn/deck_text.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn {
namespace {

using namespace test;

const std::string kDeck = R"([system]
modle = "tip3p"
molecules = 7
[integrator]
scheme = "settle"
omega = 100.0
[observe.rdf]
pairs = ["OO",
  "XX"]
[thermostat]
[observe.cluster]
bins = 3
)";

TEST(DeckText, ProblemsHaveKeysAndAdvice) {
  std::vector<std::pair<std::string, std::string>> found;
  try {
    load_deck_text(kDeck, "a.toml", {"run.precison=double", "run.steps=10"}, {"observe.none"});
    FAIL();
  } catch (const InputError& error) {
    for (const Problem& p : error.problems()) {
      found.emplace_back(key_of(p, kDeck, "a.toml"), advice_of(p));
    }
  }
  const auto advice = [&](const std::string& key) -> std::string {
    for (const auto& [name, text] : found) {
      if (name == key) return text;
    }
    ADD_FAILURE() << key;
    return {};
  };
  EXPECT_EQ(advice("system.modle"), "did you mean \"model\"?");
  EXPECT_TRUE(advice("integrator.omega").starts_with("it requires"));
  advice("observe.rdf.pairs");
  advice("observe.cluster.bins");
  advice("observe.none");
  EXPECT_EQ(advice("run.precison"), "did you mean \"precision\"?");
}

TEST(DeckText, OtherProblemsHaveNone) {
  EXPECT_EQ(key_of({"other.xyz", 3, 1, ""}, kDeck, "a.toml"), "");
  EXPECT_EQ(key_of({"a.toml", 0, 0, ""}, kDeck, "a.toml"), "");
  EXPECT_EQ(key_of({"a.toml", 1, 1, ""}, "[system", "a.toml"), "");
  EXPECT_EQ(advice_of({"", 0, 0, "without"}), "");
}

TEST(DeckText, IsReadFromFiles) {
  ScratchFolder folder;
  write_text(folder.file("a.toml"), kDeck);
  EXPECT_EQ(read_deck_text(folder.file("a.toml")), kDeck);
  EXPECT_THROW(read_deck_text(folder.file("missing.toml")), IoError);
  EXPECT_THROW(read_deck_text(folder.path()), IoError);
}

}  // namespace
}  // namespace tarn
