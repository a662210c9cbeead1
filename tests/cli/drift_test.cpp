#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.hpp"
#include "scratch_folder.hpp"
#include "trajectory_fixtures.hpp"

/// @file
/// Trajectories of clusters that are far from the origin.

namespace tarn {
namespace {

using test::contains;

class Drift : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }
  /// A deck whose four molecules move by 0.1 A in each step of 1 fs, along x. After 536 steps they
  /// are where an XTC file with its units of 1e-4 A ends.
  /// @param parted whether only the last molecule moves, away from the others, by that distance
  /// from
  ///        the centre of mass
  std::string deck(bool parted) const {
    const double start_A = 107374.18 - 53.6, speed_A_per_akma = 0.1 / 0.02045482;
    std::string text = "12\nmodel=tip3p Properties=species:S:1:pos:R:3:vel_A_per_akma:R:3\n";
    const std::vector<double> x = test::some_positions(4, 0);
    for (std::size_t a = 0; a < 12; ++a) {
      const double share = !parted ? 1.0 : a >= 9 ? 4.0 / 3.0 : 0.0;
      text +=
          fmt::format("{} {} {} {} {} 0 0\n", a % 3 == 0 ? "O" : "H", x[3 * a] + share * start_A,
                      x[3 * a + 1], x[3 * a + 2], share * speed_A_per_akma);
    }
    test::write_text(path("moving.xyz"), text);
    test::write_text(path("deck.toml"),
                     "[system]\nmodel = \"tip3p\"\nfile = \"moving.xyz\"\nvelocities = \"file\"\n"
                     "[integrator]\nscheme = \"settle\"\ntimestep_fs = 1.0\n[run]\nsteps = 1000\n"
                     "[observe.trajectory]\nevery = 100\nformat = \"xtc\"\n"
                     "[checkpoint]\nevery = 100\n");
    return "run " + path("deck.toml") + " --quiet --no-pictures -o " + path("out");
  }
  std::vector<io::Structure> frames() const { return test::frames_of(path("out/trajectory.xtc")); }

  test::ScratchFolder folder_;
};

TEST_F(Drift, IsLeftOutOfXtcTrajectories) {
  const test::Outcome outcome = test::command(deck(false));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text;
  const std::vector<io::Structure> all = frames();
  ASSERT_EQ(all.size(), 11u);
  for (const io::Structure& frame : all) {
    for (const double x : frame.positions_A) EXPECT_LT(std::abs(x), 20.0);
  }
}

/// Without recentring the run ends, and says how to continue.
TEST_F(Drift, ThatEndsARunCanBeLeftOutFromThere) {
  const std::string run = deck(false);
  const test::Outcome ended = test::command(run + " --set system.recentre=false");
  EXPECT_EQ(ended.exit_code, 4) << ended.text;
  EXPECT_TRUE(contains(ended.text, "continue with --resume --set system.recentre=true"));
  const test::Outcome checked =
      test::command("check " + path("deck.toml") + " --set system.recentre=false");
  EXPECT_TRUE(contains(checked.text, "recentre = false: the cluster drifts"));

  const test::Outcome resumed = test::command(run + " --resume --set system.recentre=true");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.text;
  const std::vector<io::Structure> all = frames();
  ASSERT_EQ(all.size(), 11u);
  EXPECT_GT(all.front().positions_A[0], 1e5);
  EXPECT_LT(std::abs(all.back().positions_A[0]), 20.0);
}

TEST_F(Drift, OfASingleMoleculeNeedsAWall) {
  const test::Outcome ended = test::command(deck(true));
  EXPECT_EQ(ended.exit_code, 4) << ended.text;
  EXPECT_TRUE(contains(ended.text,
                       "A molecule has evaporated: start a new run from the state of "
                       "this one, with [system] state and [confinement]"));
}

}  // namespace
}  // namespace tarn
