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
#include "tarn/io/plot.hpp"

namespace tarn {
namespace {

/// 1000 samples up to t = 10, with changes of both signs that grow as t and t².
Drift growing(const std::string& label, double factor) {
  Drift d;
  d.label = label;
  d.names = {"energy", "spare", "constraint_max"};
  d.changes.resize(3);
  for (int k = 1; k <= 1000; ++k) {
    const double t = 0.01 * k, sign = k % 2 == 0 ? 1.0 : -1.0;
    d.times.push_back(t);
    d.changes[0].push_back(factor * sign * t);
    d.changes[1].push_back(1.0);
    d.changes[2].push_back(factor * t * t);
  }
  return d;
}

TEST(MechanicsDrift, CurvesAreTheLargestOfEachHundredth) {
  Drift coarse{"coarse", {"energy", "constraint_max"}, {2.5, 5.0}, {{-3.0, 2.0}, {0.0, 7.0}}};
  const auto plots = drift_plots({growing("fine", 1.0), coarse});
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[0].y_label, "change of energy");
  EXPECT_EQ(plots[1].y_label, "change of constraint_max");
  for (std::size_t panel = 0; panel < 2; ++panel) {
    EXPECT_TRUE(plots[panel].log_y);
    EXPECT_FALSE(plots[panel].y_range);
    const io::Series& fine = plots[panel].series[0];
    ASSERT_EQ(fine.x.size(), 100u);
    for (std::size_t k = 0; k < 100; ++k) {
      const double t = 0.1 * static_cast<double>(k + 1);
      EXPECT_NEAR(fine.x[k], t, test::few_roundings(10.0));
      EXPECT_NEAR(fine.y[k], panel == 0 ? t : t * t, test::few_roundings(100.0));
    }
  }
  // Fewer samples than parts stay as they are.
  EXPECT_EQ(plots[0].series[1].x, (std::vector<double>{2.5, 5.0}));
  EXPECT_EQ(plots[0].series[1].y, (std::vector<double>{3.0, 2.0}));
  EXPECT_EQ(plots[1].series[1].y, (std::vector<double>{0.0, 7.0}));
  EXPECT_NE(plots[0].series[0].colour, plots[0].series[1].colour);
}

TEST(MechanicsDrift, OmitsMissingAndConstantQuantities) {
  Drift other{"other", {"energy", "rotation_error"}, {1.0}, {{0.0}, {0.0}}};
  EXPECT_EQ(drift_plots({growing("a", 1.0), other}).size(), 1u);
  EXPECT_TRUE(drift_plots({other}).empty());
  // One that could not begin has nothing, and takes nothing from the others.
  const Drift none{"none", {}, {}, {}, true};
  const auto plots = drift_plots({none, growing("a", 1.0)});
  ASSERT_EQ(plots.size(), 2u);
  ASSERT_EQ(plots[0].series.size(), 1u);
  EXPECT_EQ(plots[0].series[0].label, "a");
  EXPECT_TRUE(drift_plots({none}).empty());
  EXPECT_EQ(drift_table({none}, "x.csv", "p"), "# p\nscheme,time\n");
}

TEST(MechanicsDrift, OneThatFailsLeavesTheAxisToTheOthers) {
  Drift failed{"failed", {"energy"}, {0.5, 1.0}, {{1.0, 1e9}}, true};
  auto plots = drift_plots({failed, growing("a", 1e-3)});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].series[0].label, "failed, failed after 1");
  ASSERT_TRUE(plots[0].y_range);
  EXPECT_NEAR((*plots[0].y_range)[0], 0.5e-4, test::few_roundings());
  EXPECT_NEAR((*plots[0].y_range)[1], 1e-1, test::few_roundings());
  plots = drift_plots({failed});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_FALSE(plots[0].y_range);
}

/// The table of a comparison has its largest changes, with their signs; the picture is there.
TEST(MechanicsDrift, ComparisonsWriteAndDrawIt) {
  const test::ScratchFolder scratch;
  const Deck deck = load_deck(TARN_SOURCE_DIR "/inputs/double-pendulum.toml", {"run.duration=20"});
  CompareOptions options;
  options.out_dir = scratch.file("out");
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
  EXPECT_EQ(result.pictures.empty(), !io::can_draw());
  EXPECT_FALSE(std::filesystem::exists(scratch.file("out/orders.csv")));
}

}  // namespace
}  // namespace tarn
