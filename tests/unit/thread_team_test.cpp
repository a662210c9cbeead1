#include "src/cpu/thread_team.hpp"

#include <thread>

#include "testing.hpp"

/// @file
/// Threads that work on one thing.

namespace tarn::cpu {
namespace {

/// Calls op(member) on each member of a team.
template <class Op>
void on_team(int size, const Op& op) {
  ThreadTeam team(size > static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      TeamMember member(team, rank, size);
      op(member);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// More members than processors too.
const std::vector<int> kSizes{1, 2, 3, 5, 40};

TEST(ThreadTeam, BarriersPublishAllWrites) {
  for (const int size : kSizes) {
    std::vector<int> done(static_cast<std::size_t>(size));
    std::vector<int> wrong(done.size());
    on_team(size, [&](TeamMember& member) {
      const auto rank = static_cast<std::size_t>(member.rank());
      for (int round = 1; round <= 300; ++round) {
        done[rank] = round;
        member.barrier();
        for (const int d : done) wrong[rank] += d != round;
        member.barrier();
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(done.size())) << size;
  }
}

TEST(ThreadTeam, EachTaskIsDoneOnceBeforeAnyMemberContinues) {
  for (const int size : kSizes) {
    for (const int tasks : {0, 1, 2, 7, 100}) {
      std::vector<int> done(static_cast<std::size_t>(tasks));
      std::vector<int> wrong(static_cast<std::size_t>(size));
      on_team(size, [&](TeamMember& member) {
        for (int round = 1; round <= 20; ++round) {
          member.for_each_task(tasks, [&](int k) { ++done[static_cast<std::size_t>(k)]; });
          for (const int d : done) wrong[static_cast<std::size_t>(member.rank())] += d != round;
          member.barrier();
        }
      });
      EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size << " members, " << tasks << " tasks";
    }
  }
}

TEST(ThreadTeam, OneWorksAloneWhileTheOthersWait) {
  for (const int size : kSizes) {
    int sum = 0;
    std::vector<int> wrong(static_cast<std::size_t>(size));
    on_team(size, [&](TeamMember& member) {
      for (int round = 1; round <= 100; ++round) {
        member.on_one([&] { ++sum; });
        wrong[static_cast<std::size_t>(member.rank())] += sum != round;
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size;
  }
}

TEST(ThreadTeam, AnExceptionOfOneReachesAll) {
  for (const int size : kSizes) {
    std::vector<int> wrong(static_cast<std::size_t>(size));
    on_team(size, [&](TeamMember& member) {
      int& own = wrong[static_cast<std::size_t>(member.rank())];
      own = 1;
      try {
        member.on_one([] { throw std::runtime_error("too much"); });
      } catch (const std::runtime_error& error) {
        own = std::string(error.what()) != "too much";
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size;
  }
}

TEST(ThreadTeam, BroadcastReachesAll) {
  for (const int size : kSizes) {
    std::vector<int> wrong(static_cast<std::size_t>(size));
    on_team(size, [&](TeamMember& member) {
      for (int round = 0; round < 100; ++round) {
        // Nobody, or the one whose turn it is.
        const bool own = round % 3 == 0 && round / 3 % size == member.rank();
        wrong[static_cast<std::size_t>(member.rank())] += member.any(own) != (round % 3 == 0);
      }
    });
    EXPECT_EQ(wrong, std::vector<int>(wrong.size())) << size;
  }
}

}  // namespace
}  // namespace tarn::cpu
