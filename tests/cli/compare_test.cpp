#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "program.hpp"
#include "scratch_folder.hpp"
#include "tarn/io/csv.hpp"

/// @file
/// Comparisons that do not end as they should: schemes that lose their replicas, and interrupts.

namespace tarn {
namespace {

using test::contains;
using test::read_text;

const std::string kInputs = std::string(TARN_SOURCE_DIR) + "/inputs/";

class Comparisons : public ::testing::Test {
 protected:
  /// `tarn compare DECK` into out_, with these words.
  std::vector<std::string> words(const std::string& deck, std::vector<std::string> more) const {
    std::vector<std::string> all{TARN_BINARY, "compare", deck, "--json", "--out", out_};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// The column of a table, by row.
  std::vector<std::string> column(const std::string& name) const {
    io::CsvReader csv(out_ + "/compare.csv");
    std::vector<std::string> values;
    std::vector<std::string_view> cells;
    while (csv.next(cells)) values.emplace_back(cells[csv.column(name)]);
    return values;
  }
  /// Interrupts it at its first progress; false if that has no effect within a minute.
  bool ends_when_interrupted(const std::string& deck, const std::vector<std::string>& more) {
    using Clock = std::chrono::steady_clock;
    test::Program program(words(deck, more), lines_, log_);
    const Clock::time_point limit = Clock::now() + std::chrono::minutes(1);
    const auto told = [&] {
      return std::filesystem::exists(lines_) &&
             read_text(lines_).find("progress") != std::string::npos;
    };
    while (program.runs() && !told() && Clock::now() < limit) ::usleep(10'000);
    program.signal(SIGINT);
    while (program.runs() && Clock::now() < limit) ::usleep(10'000);
    if (program.runs()) return false;
    EXPECT_EQ(program.wait().code, 130) << read_text(log_);
    return true;
  }

  test::ScratchFolder folder_;
  std::string lines_ = folder_.file("lines"), log_ = folder_.file("log"),
              out_ = folder_.file("out");
};

/// A turn of a fortieth of these runs would take days.
TEST_F(Comparisons, OfWaterEndSoonWhenInterrupted) {
  ASSERT_TRUE(ends_when_interrupted(
      kInputs + "water7.toml", {"--schemes", "settle,shake", "--set", "run.steps=1000000000000",
                                "--set", "run.equilibration_ps=0", "--threads", "1"}));
  EXPECT_EQ(column("scheme"), (std::vector<std::string>{"settle", "shake"}));
  EXPECT_TRUE(contains(read_text(log_), "interrupted"));
  EXPECT_TRUE(contains(read_text(lines_), "\"interrupted\""));
}

TEST_F(Comparisons, OfMechanicalSystemsEndAtACommonStepWhenInterrupted) {
  ASSERT_TRUE(ends_when_interrupted(
      kInputs + "spherical-pendulum.toml",
      {"--schemes", "rattle,variational-of:rk4", "--set", "run.steps=1000000000000"}));
  const std::vector<std::string> steps = column("steps");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0], steps[1]);
  EXPECT_GT(std::stoll(steps[0]), 0);
}

}  // namespace
}  // namespace tarn
