#include "io/structure_checks.hpp"
#include "testing.hpp"

namespace tarn::io {
namespace {

using namespace test;

using Numbers = std::vector<std::int64_t>;

/// The number, the replica over all files and the index of the next frame, or nothing.
Numbers next(ReplicaNumbering& places, const std::string& name, const std::string& file = "a.xyz") {
  const std::optional<FrameIndex> place = places.next(file, name);
  if (!place) return {};
  return {place->number, place->replica, place->frame};
}

TEST(ReplicaNumbering, FramesStandInAnyOrder) {
  for (const bool interleaved : {false, true}) {
    ReplicaNumbering places;
    for (std::int64_t i = 0; i < 6; ++i) {
      const std::int64_t replica = interleaved ? i % 2 : i / 3;
      const std::int64_t frame = interleaved ? i / 2 : i % 3;
      EXPECT_EQ(next(places, std::to_string(replica)), (Numbers{replica, replica, frame}));
    }
    EXPECT_EQ(places.replicas(), 2);
    EXPECT_TRUE(places.messages().empty());
  }
}

TEST(ReplicaNumbering, NamesEndInTheirNumbers) {
  ReplicaNumbering places;
  EXPECT_EQ(next(places, "replica-0012"), (Numbers{12, 0, 0}));
  EXPECT_EQ(next(places, "3"), (Numbers{3, 1, 0}));
  EXPECT_EQ(next(places, "replica-0012"), (Numbers{12, 0, 1}));
  EXPECT_TRUE(places.messages().empty());
}

TEST(ReplicaNumbering, OtherNamesAreNumberedAsTheyAppear) {
  ReplicaNumbering places;
  EXPECT_EQ(next(places, "solute"), (Numbers{0, 0, 0}));
  EXPECT_TRUE(places.messages().empty()) << "one replica needs no number";
  EXPECT_EQ(next(places, "solvent"), (Numbers{1, 1, 0}));
  EXPECT_EQ(next(places, "solute"), (Numbers{0, 0, 1}));
  // A number that is too large is ignored.
  EXPECT_EQ(next(places, "99999999999999999999"), (Numbers{2, 2, 0}));
  ASSERT_EQ(places.messages().size(), 1u);
  expect_parts_of(places.messages()[0].text,
                  {"a.xyz: replicas whose names do not end in a unique number",
                   "solute is 0, solvent is 1, 9"});
}

TEST(ReplicaNumbering, NoNumberIsGivenTwice) {
  ReplicaNumbering places;
  EXPECT_EQ(next(places, "left-1"), (Numbers{1, 0, 0}));
  EXPECT_EQ(next(places, "right-1"), (Numbers{2, 1, 0})) << "the place, 1, is not free";
  EXPECT_EQ(next(places, "2"), (Numbers{3, 2, 0}));
  EXPECT_EQ(next(places, ""), (Numbers{4, 3, 0}));
  EXPECT_EQ(next(places, "0"), (Numbers{0, 4, 0}));
  ASSERT_EQ(places.messages().size(), 1u);
  const std::string text = places.messages()[0].text;
  EXPECT_TRUE(contains(text, "right-1 is 2, 2 is 3, the one without a name is 4"));
  EXPECT_FALSE(contains(text, "left-1"));
}

TEST(ReplicaNumbering, AnotherFileHasOtherReplicas) {
  ReplicaNumbering places;
  EXPECT_EQ(next(places, "", "a.xyz"), (Numbers{0, 0, 0}));
  EXPECT_EQ(next(places, "", "a.xyz"), (Numbers{0, 0, 1}));
  EXPECT_EQ(next(places, "", "b.xyz"), (Numbers{0, 1, 0}));
  EXPECT_EQ(next(places, "7", "c.xyz"), (Numbers{7, 2, 0}));
  EXPECT_EQ(next(places, "0", "d.xyz"), (Numbers{0, 3, 0}));
  EXPECT_EQ(places.replicas(), 4);
  EXPECT_EQ(places.numbers(), (std::set<std::int64_t>{0, 7}));
  EXPECT_TRUE(places.messages().empty());
}

TEST(ReplicaNumbering, CountsSelectedReplicasOnly) {
  ReplicaNumbering places({1, 5});
  EXPECT_EQ(next(places, "solute"), Numbers{});
  EXPECT_EQ(next(places, "solvent"), (Numbers{1, 0, 0}));
  EXPECT_EQ(next(places, "5"), (Numbers{5, 1, 0}));
  EXPECT_EQ(next(places, "solute"), Numbers{});
  EXPECT_EQ(next(places, "solvent"), (Numbers{1, 0, 1}));
  EXPECT_EQ(places.replicas(), 2);
  EXPECT_EQ(places.numbers(), (std::set<std::int64_t>{1, 5}));
}

TEST(ReplicaClock, FindsStartAndSpacingOfFrames) {
  ReplicaClock clock;
  for (int i = 0; i < 5; ++i) clock.add(100 + 10 * i, 7.0 + 0.25 * i);
  EXPECT_EQ(clock.frames, 5);
  EXPECT_TRUE(clock.has_steps && clock.has_times);
  EXPECT_EQ(clock.first_step, 100);
  EXPECT_EQ(clock.every, 10);
  EXPECT_EQ(clock.largest_step, 140);
  EXPECT_EQ(clock.first_ps, 7.0);
  EXPECT_EQ(clock.interval_ps, 0.25);
  EXPECT_TRUE(clock.has_even_steps && clock.has_even_times);
}

TEST(ReplicaClock, TimesNeedNoStepsAndStepsNoTimes) {
  ReplicaClock times, steps;
  for (int i = 0; i < 3; ++i) {
    times.add(std::nullopt, 0.5 * i);
    steps.add(4 * i, std::nullopt);
  }
  EXPECT_FALSE(times.has_steps || steps.has_times);
  EXPECT_TRUE(times.has_times && steps.has_steps && times.has_even_times);
  EXPECT_EQ(times.first_step, 0);
  EXPECT_EQ(times.every, 1);
  EXPECT_EQ(times.interval_ps, 0.5);
  EXPECT_EQ(steps.every, 4);
  EXPECT_EQ(steps.interval_ps, 0.0);
}

TEST(ReplicaClock, DetectsUnevenSpacing) {
  ReplicaClock clock;
  clock.add(0, 0.0);
  clock.add(10, 1.0);
  clock.add(20, 2.0 + 2e-6);  // the tolerance for single precision is 3e-6
  EXPECT_TRUE(clock.has_even_steps && clock.has_even_times);
  clock.add(31, 3.0);
  EXPECT_FALSE(clock.has_even_steps);
  EXPECT_TRUE(clock.has_even_times);
  clock.add(41, 4.1);
  EXPECT_FALSE(clock.has_even_times);
}

TEST(ReplicaClock, StepsThatDoNotGrowAreNotEvenAndLargeOnesDoNotOverflow) {
  ReplicaClock same, large;
  for (int i = 0; i < 2; ++i) same.add(7, 1.0);
  EXPECT_EQ(same.every, 1);
  EXPECT_EQ(same.interval_ps, 0.0);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t step : {std::int64_t{0}, kLargest, kLargest}) large.add(step, 0.0);
  EXPECT_EQ(large.largest_step, kLargest);
  EXPECT_FALSE(same.has_even_steps || large.has_even_steps);
}

TEST(ReplicaClock, OneFrameWithoutTimeMakesItUnknown) {
  ReplicaClock clock;
  clock.add(0, 0.0);
  clock.add(std::nullopt, std::nullopt);
  clock.add(2, 1.0);
  EXPECT_FALSE(clock.has_steps);
  EXPECT_FALSE(clock.has_times);
  EXPECT_EQ(clock.interval_ps, 0.0);
}

}  // namespace
}  // namespace tarn::io
