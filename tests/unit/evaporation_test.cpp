#include "run/evaporation.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "observe/position_measures.hpp"
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

TEST(Evaporation, AStateThatChangesPlacesIsToldOnce) {
  std::array<std::int64_t, 2> walkers{0, 1};
  EvaporationWatch by_replica, by_state;
  by_state.set_walkers([&](std::int64_t r) { return walkers[static_cast<std::size_t>(r)]; });
  for (EvaporationWatch* watch : {&by_replica, &by_state}) watch->observe(frame_with_broken(0));
  walkers = {1, 0};
  for (EvaporationWatch* watch : {&by_replica, &by_state}) watch->observe(frame_with_broken(1));
  EXPECT_EQ(by_replica.departures().size(), 2u);
  ASSERT_EQ(by_state.departures().size(), 1u);
  EXPECT_EQ(by_state.departures()[0].replica, 0);
  EXPECT_EQ(by_state.departures()[0].molecule, 2);
}

TEST(Evaporation, OneTextNamesAllReplicas) {
  std::vector<Departure> departures{{3, 1000, 2}};
  const std::string first = describe(departures.front());
  EXPECT_EQ(describe(departures), first);
  departures.push_back({0, 2000, 1});
  EXPECT_EQ(describe(departures), first + ". Also in replica 0 (step 2000)");
  departures.push_back({7, 4000, 0});
  EXPECT_EQ(describe(departures), first + ". Also in replicas 0 (step 2000), 7 (step 4000)");
}

TEST(Evaporation, OneTextDoesNotGrowForEver) {
  std::vector<Departure> departures;
  for (int r = 0; r < 25; ++r) departures.push_back({r, 1000, 0});
  const std::string text = describe(departures);
  EXPECT_NE(text.find("20 (step 1000) and 4 more"), std::string::npos) << text;
  EXPECT_EQ(text.find("21 (step"), std::string::npos);
}

}  // namespace
}  // namespace tarn
