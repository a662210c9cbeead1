

#include "cli/run_end_text.hpp"
#include "testing.hpp"

namespace tarn::cli {
namespace {

using namespace test;

Progress half_way(double steps_per_second, double ns_per_day, double replicas, double seconds) {
  return {50, 100, 10.0, steps_per_second, ns_per_day, replicas * ns_per_day, seconds};
}

TEST(ProgressText, EightyColumnsHaveTheSpeedAndTheTimeLeft) {
  for (const Progress& p :
       {half_way(14.0, 0.00241, 1.0, 3.0), half_way(18561.0, 3207.4, 24.0, 125.0),
        half_way(999949.0, 123456.0, 65536.0, 9e6), half_way(1.2e6, 9.99e-5, 65536.0, 9e6)}) {
    const std::string line = ProgressText(p).line(80);
    EXPECT_LE(line.size(), 79u) << line;
    for (const char* word : {"50.0 %", "steps/s", "ns/day", "left"}) {
      EXPECT_TRUE(contains(line, word)) << line;
    }
  }
  EXPECT_EQ(ProgressText(half_way(18561.0, 3.21, 64.0, 185.0)).full(),
            " 50.0 %  18.6 ksteps/s  3.21 ns/day, 205 in total  3 min 05 s left");
}

TEST(ProgressText, OneReplicaHasOneSpeed) {
  EXPECT_EQ(ProgressText(half_way(1234.0, 5.5, 1.0, 60.0)).full(),
            " 50.0 %  1234 steps/s  5.5 ns/day  1 min 00 s left");
  EXPECT_EQ(ProgressText(half_way(1234.0, 0.0, 1.0, 60.0)).full(),
            " 50.0 %  1234 steps/s  1 min 00 s left");
}

// The bar goes first, then the speed, then the time; no line is as wide as the terminal.
TEST(ProgressText, IsShorterOnNarrowTerminals) {
  const ProgressText text(half_way(18561.0, 3207.4, 24.0, 125.0));
  int before = 4;
  for (std::size_t columns = 200; columns > 0; --columns) {
    const std::string line = text.line(columns);
    EXPECT_LT(line.size(), columns);
    const int said = contains(line, "steps/s") ? 2 + static_cast<int>(contains(line, "####"))
                     : contains(line, "left")  ? 1
                                               : 0;
    EXPECT_LE(said, before) << columns;
    before = said;
  }
  EXPECT_EQ(before, 0);
  EXPECT_TRUE(contains(text.line(200), "[############............]"));
}

TEST(ProgressText, TheLastLineHasNoTimeLeft) {
  Progress p = half_way(1234.0, 5.5, 1.0, 0.0);
  p.step = p.total_steps;
  EXPECT_EQ(ProgressText(p).full(), "100.0 %  1234 steps/s  5.5 ns/day");
}

}  // namespace
}  // namespace tarn::cli
