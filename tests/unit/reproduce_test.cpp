#include "tarn/reproduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

/// The verdict on short runs: a row for each curve, thermostat and step, and what must hold however
/// short they are.
TEST(Reproductions, OfErrorAgainstCostPutEverySchemeBesideTheRigidReference) {
  const test::ScratchFolder folder;
  std::filesystem::copy(kInputs + "/structures", folder.file("structures"));
  std::string deck = test::read_text(kInputs + "/verdict-10K.toml");
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = deck.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    deck.replace(at, from.size(), to);
  };
  replace("replicas = 64", "replicas = 8");
  replace("duration_ps = 120", "duration_ps = 9.6");
  replace("equilibration_ps = 19.2", "equilibration_ps = 3.84");
  test::write_text(folder.file("verdict-10K.toml"), deck);
  ReproduceOptions options;
  options.inputs_dir = options.out_dir = folder.path();
  reproduce({"verdict-10K"}, options);

  io::CsvReader csv(folder.path() + "/verdict-10K.csv");
  std::vector<std::string_view> cells;
  int rows = 0, stopped = 0;
  while (csv.next(cells)) {
    ++rows;
    const auto number = [&](std::size_t k) { return std::stod(std::string(cells[k])); };
    if (number(16) > 0.0) {
      ++stopped;
      EXPECT_EQ(cells[4], "") << cells[0];
      continue;
    }
    EXPECT_GT(number(4), 0.0);
    const double difference = number(11), error = number(12);
    EXPECT_GT(error, 0.0);
    // omega = 20 is 6 kcal/mol off, rigid schemes with BAOAB and short steps are right: errors of
    // 36 harmonic modes over eight replicas, with room for blocks of so few samples.
    if (cells[0].starts_with("zss-stiff:omega=20")) {
      EXPECT_NEAR(difference, -6.3, 0.4);
    } else if (!cells[0].starts_with("zss") && number(2) <= 4.0) {
      EXPECT_LT(std::fabs(difference), 0.1) << cells[0];
    }
  }
  EXPECT_EQ(rows, 14 * 2 * 7);
  EXPECT_GT(stopped, 0);  // the full Hessian with omega = 500, for one
  EXPECT_LT(stopped, rows / 2);
}

TEST(Reproductions, RefuseUnknownNames) {
  ReproduceOptions options;
  options.inputs_dir = kInputs;
  EXPECT_THROW(reproduce({"fig99"}, options), InputError);
}

}  // namespace
}  // namespace tarn
