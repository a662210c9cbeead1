#include "io/replica_frames.hpp"
#include "testing.hpp"

namespace tarn::io {
namespace {

TEST(ReplicaClock, FindsStartAndSpacingOfFrames) {
  ReplicaClock clock;
  for (int i = 0; i < 5; ++i) clock.add(100 + 10 * i, 7.0 + 0.25 * i);
  EXPECT_EQ(clock.frames(), 5);
  EXPECT_TRUE(clock.has_steps() && clock.has_times());
  EXPECT_EQ(clock.first_step(), 100);
  EXPECT_EQ(clock.every(), 10);
  EXPECT_EQ(clock.largest_step(), 140);
  EXPECT_EQ(clock.first_ps(), 7.0);
  EXPECT_EQ(clock.interval_ps(), 0.25);
  EXPECT_TRUE(clock.has_even_steps() && clock.has_even_times());
}

TEST(ReplicaClock, TimesNeedNoSteps) {
  ReplicaClock clock;
  for (int i = 0; i < 3; ++i) clock.add(std::nullopt, 0.5 * i);
  EXPECT_FALSE(clock.has_steps());
  EXPECT_TRUE(clock.has_times());
  EXPECT_EQ(clock.first_step(), 0);
  EXPECT_EQ(clock.every(), 1);
  EXPECT_EQ(clock.interval_ps(), 0.5);
  EXPECT_TRUE(clock.has_even_times());
}

TEST(ReplicaClock, StepsNeedNoTimes) {
  ReplicaClock clock;
  for (int i = 0; i < 3; ++i) clock.add(4 * i, std::nullopt);
  EXPECT_TRUE(clock.has_steps());
  EXPECT_FALSE(clock.has_times());
  EXPECT_EQ(clock.every(), 4);
  EXPECT_EQ(clock.interval_ps(), 0.0);
}

TEST(ReplicaClock, DetectsUnevenSpacing) {
  ReplicaClock clock;
  clock.add(0, 0.0);
  clock.add(10, 1.0);
  clock.add(20, 2.0 + 2e-6);  // the tolerance for single precision is 3e-6
  EXPECT_TRUE(clock.has_even_steps() && clock.has_even_times());
  clock.add(31, 3.0);
  EXPECT_FALSE(clock.has_even_steps());
  EXPECT_TRUE(clock.has_even_times());
  clock.add(41, 4.1);
  EXPECT_FALSE(clock.has_even_times());
}

TEST(ReplicaClock, StepsThatDoNotGrowAreNotEven) {
  ReplicaClock clock;
  clock.add(7, 1.0);
  clock.add(7, 1.0);
  EXPECT_EQ(clock.every(), 1);
  EXPECT_EQ(clock.interval_ps(), 0.0);
  EXPECT_FALSE(clock.has_even_steps());
}

TEST(ReplicaClock, TheLargestStepsDoNotOverflow) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  ReplicaClock clock;
  for (const std::int64_t step : {std::int64_t{0}, kLargest, kLargest}) clock.add(step, 0.0);
  EXPECT_EQ(clock.largest_step(), kLargest);
  EXPECT_FALSE(clock.has_even_steps());
}

TEST(ReplicaClock, OneFrameWithoutTimeMakesItUnknown) {
  ReplicaClock clock;
  clock.add(0, 0.0);
  clock.add(std::nullopt, std::nullopt);
  clock.add(2, 1.0);
  EXPECT_FALSE(clock.has_steps());
  EXPECT_FALSE(clock.has_times());
  EXPECT_EQ(clock.interval_ps(), 0.0);
}

}  // namespace
}  // namespace tarn::io
