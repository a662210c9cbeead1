#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "observe/trajectory_frames.hpp"
#include "run/first_events.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

/// Two replicas of three molecules, one of which has lost its third.
Frame frame_with_broken(std::int64_t replica) {
  Frame frame;
  frame.molecules = 3;
  frame.step = 1000;
  for (std::int64_t id = 0; id < 2; ++id) {
    frame.replica_ids.push_back(id);
    for (int i = 0; i < 3; ++i) {
      const double x_A = i == 2 && id == replica ? 100.0 : 3.0 * i;
      for (const std::array atom : {std::array{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}) {
        frame.positions_A.insert(frame.positions_A.end(), {x_A + atom[0], atom[1], atom[2]});
      }
    }
  }
  PositionMeasures(test::tip3p(), {}).fill(kParts, frame);
  return frame;
}

TEST(Evaporation, AnExchangedStateIsReportedOnce) {
  std::array<std::int64_t, 2> walkers{0, 1};
  EvaporationWatch by_replica, by_state;
  by_state.set_walkers([&](std::int64_t r) { return walkers[static_cast<std::size_t>(r)]; });
  for (EvaporationWatch* watch : {&by_replica, &by_state}) watch->observe(frame_with_broken(0));
  walkers = {1, 0};
  for (EvaporationWatch* watch : {&by_replica, &by_state}) watch->observe(frame_with_broken(1));
  EXPECT_EQ(by_replica.events().size(), 2u);
  ASSERT_EQ(by_state.events().size(), 1u);
  EXPECT_EQ(by_state.events()[0].replica, 0);
  EXPECT_EQ(by_state.events()[0].molecule, 2);
}

/// A frame in which these replicas have lost their third molecule.
Frame frame_with_broken(const std::vector<std::int64_t>& replicas, std::int64_t step) {
  Frame frame;
  frame.step = step;
  frame.replica_ids = replicas;
  frame.parts.assign(replicas.size(), ClusterParts{1, 2, 0.0});
  return frame;
}

TEST(Evaporation, OneTextNamesAllReplicas) {
  EvaporationWatch watch;
  EXPECT_FALSE(watch.warning());
  watch.observe(frame_with_broken({3}, 1000));
  const std::string first = watch.warning()->text;
  EXPECT_EQ(first, watch.describe(watch.events()[0]));
  EXPECT_TRUE(first.starts_with("replica 3: molecule 2 evaporated (detected at step 1000, "));
  watch.observe(frame_with_broken({0, 3}, 2000));
  EXPECT_EQ(watch.warning()->text, first + ". Also in replica 0 (step 2000)");
  watch.observe(frame_with_broken({7}, 4000));
  EXPECT_EQ(watch.warning(),
            Message::warning(first + ". Also in replicas 0 (step 2000), 7 (step 4000)"));
}

TEST(Evaporation, OneTextDoesNotGrowForEver) {
  EvaporationWatch watch;
  std::vector<std::int64_t> replicas;
  for (int r = 0; r < 25; ++r) replicas.push_back(r);
  watch.observe(frame_with_broken(replicas, 1000));
  const std::string text = watch.warning()->text;
  EXPECT_NE(text.find("20 (step 1000) and 4 more"), std::string::npos) << text;
  EXPECT_EQ(text.find("21 (step"), std::string::npos);
}

}  // namespace
}  // namespace tarn
