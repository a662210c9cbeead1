#include "tarn/reproduce.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs";

TEST(Reproductions, HaveNamesOfTheirOwnAndDecksThatTakeTheirSchemes) {
  std::set<std::string> names;
  for (const Reproduction& r : reproductions()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_TRUE(!r.deck.empty() || r.make != nullptr) << r.name;
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

TEST(Reproductions, OfFiguresWriteTheirPageAndTable) {
  const test::ScratchFolder folder;
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  options.out_dir = folder.path();
  reproduce({"multipliers"}, options);
  io::CsvReader csv(folder.path() + "/multipliers.csv");
  std::vector<std::string_view> cells;
  int rows = 0;
  while (csv.next(cells)) ++rows;
  // 97 of the 101 steps have a whole window, 21 bonds, two schemes and the reference.
  EXPECT_EQ(rows, 97 * 21 * 3);
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/multipliers.md"));
}

TEST(Reproductions, RefuseUnknownNames) {
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  EXPECT_THROW(reproduce({"fig99"}, options), InputError);
}

}  // namespace
}  // namespace tarn
