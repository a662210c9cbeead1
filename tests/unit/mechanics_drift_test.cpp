// What schemes of a mechanical system keep, as curves of time.
#include "compare/mechanics_drift.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rounding.hpp"
#include "scratch_folder.hpp"
#include "tarn/compare.hpp"
#include "tarn/io/csv.hpp"

namespace tarn {
namespace {

/// The table of a comparison has its largest changes, with their signs.
TEST(MechanicsDrift, ComparisonsWriteIt) {
  const test::ScratchFolder scratch;
  const Deck deck = load_deck(TARN_SOURCE_DIR "/inputs/double-pendulum.toml", {"run.duration=20"});
  CompareOptions options;
  options.out_dir = scratch.file("out");
  options.pictures = false;
  const CompareResult result = compare_schemes(deck, {"rattle", "zs:step=0.05"}, options);
  std::vector<std::vector<double>> largest(2, std::vector<double>(2, 0.0));
  std::vector<int> rows(2, 0);
  double least = 0.0;
  io::CsvReader csv(scratch.file("out/drift.csv"));
  EXPECT_EQ(csv.header(),
            (std::vector<std::string>{"scheme", "time", "energy_change", "constraint_max_change"}));
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    const std::size_t scheme = cells[0] == "rattle" ? 0 : 1;
    ++rows[scheme];
    EXPECT_NEAR(csv.number(cells[1]), rows[scheme] * (scheme == 0 ? 0.1 : 0.05),
                test::few_roundings(20.0));
    for (std::size_t k = 0; k < 2; ++k) {
      largest[scheme][k] = std::max(largest[scheme][k], std::abs(csv.number(cells[2 + k])));
    }
    least = std::min(least, csv.number(cells[2]));
  }
  EXPECT_EQ(rows, (std::vector<int>{200, 400}));
  EXPECT_LT(least, 0.0);
  for (std::size_t scheme = 0; scheme < 2; ++scheme) {
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(largest[scheme][k], result.mechanics[scheme].changes[k].second);
    }
  }
  EXPECT_FALSE(std::filesystem::exists(scratch.file("out/orders.csv")));
}

}  // namespace
}  // namespace tarn
