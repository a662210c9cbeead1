#include "tarn/reproduce.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tarn/core/error.hpp"

namespace tarn {
namespace {

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs";

TEST(Reproductions, HaveNamesOfTheirOwnAndDecksThatTakeTheirSchemes) {
  std::set<std::string> names;
  for (const Reproduction& r : reproductions()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_EQ(r.deck.empty(), r.make != nullptr) << r.name;
    if (!r.deck.empty()) {
      const Deck deck = load_deck(kInputs + "/" + r.deck, r.overrides);
      for (const std::string& scheme : r.schemes) {
        EXPECT_NO_THROW(with_scheme(deck, scheme)) << scheme;
      }
    }
    EXPECT_TRUE(
        std::filesystem::exists(std::string(TARN_SOURCE_DIR) + "/docs/results/" + r.name + ".md"))
        << r.name << ": run tarn reproduce " << r.name;
  }
}

TEST(Reproductions, RefuseUnknownNames) {
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  EXPECT_THROW(reproduce({"fig99"}, options), InputError);
}

}  // namespace
}  // namespace tarn
