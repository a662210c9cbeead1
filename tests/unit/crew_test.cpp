#include "src/cpu/crew.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

/// @file
/// Threads that work on one thing.

namespace tarn::cpu {
namespace {

/// Calls op(hand) on each hand of a crew.
template <class Op>
void on_crew(int size, const Op& op) {
  Crew crew(size > static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Hand hand(crew, rank, size);
      op(hand);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// More hands than processors too.
const std::vector<int> kSizes{1, 2, 3, 5, 40};

TEST(Crew, AfterAMeetingAllSeeWhatEachHasDone) {
  for (const int size : kSizes) {
    std::vector<int> done(static_cast<std::size_t>(size));
    std::vector<int> wrong(done.size());
    on_crew(size, [&](Hand& hand) {
      const auto rank = static_cast<std::size_t>(hand.rank());
      for (int round = 1; round <= 300; ++round) {
        done[rank] = round;
        hand.meet();
        for (const int d : done) wrong[rank] += d != round;
        hand.meet();
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(done.size())) << size;
  }
}

TEST(Crew, EachTaskIsDoneOnceBeforeAllGoOn) {
  for (const int size : kSizes) {
    for (const int tasks : {0, 1, 2, 7, 100}) {
      std::vector<int> done(static_cast<std::size_t>(tasks));
      std::vector<int> wrong(static_cast<std::size_t>(size));
      on_crew(size, [&](Hand& hand) {
        for (int round = 1; round <= 20; ++round) {
          hand.share(tasks, [&](int k) { ++done[static_cast<std::size_t>(k)]; });
          for (const int d : done) wrong[static_cast<std::size_t>(hand.rank())] += d != round;
          hand.meet();
        }
      });
      EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size << " hands, " << tasks << " tasks";
    }
  }
}

TEST(Crew, OneWorksAloneWhileTheOthersWait) {
  for (const int size : kSizes) {
    int sum = 0;
    std::vector<int> wrong(static_cast<std::size_t>(size));
    on_crew(size, [&](Hand& hand) {
      for (int round = 1; round <= 100; ++round) {
        hand.alone([&] { ++sum; });
        wrong[static_cast<std::size_t>(hand.rank())] += sum != round;
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size;
  }
}

TEST(Crew, WhatOneThrowsAloneAllThrow) {
  for (const int size : kSizes) {
    std::vector<int> wrong(static_cast<std::size_t>(size));
    on_crew(size, [&](Hand& hand) {
      int& own = wrong[static_cast<std::size_t>(hand.rank())];
      own = 1;
      try {
        hand.alone([] { throw std::runtime_error("too much"); });
      } catch (const std::runtime_error& error) {
        own = std::string(error.what()) != "too much";
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size;
  }
}

TEST(Crew, WhatOneSaysAllHear) {
  for (const int size : kSizes) {
    std::vector<int> wrong(static_cast<std::size_t>(size));
    on_crew(size, [&](Hand& hand) {
      for (int round = 0; round < 100; ++round) {
        // Nobody, or the one whose turn it is.
        const bool own = round % 3 == 0 && round / 3 % size == hand.rank();
        wrong[static_cast<std::size_t>(hand.rank())] += hand.any(own) != (round % 3 == 0);
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size;
  }
}

}  // namespace
}  // namespace tarn::cpu
