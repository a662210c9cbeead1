#include "src/core/threads.hpp"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "forked.hpp"
#include "src/core/parallel.hpp"
#include "src/core/processors.hpp"
#include "src/cpu/thread_team.hpp"
#include "testing.hpp"

/// @file
/// Teams of threads, how many there are, and loops over them.

namespace tarn {
namespace {

TEST(RunTeam, CallsEachRankOnceAndReturnsWhenAllAreDone) {
  for (int round = 0; round < 200; ++round) {
    for (const int team : {1, 2, 3, 5, 40}) {
      std::vector<int> calls(static_cast<std::size_t>(team)), sizes(calls.size());
      run_team(team, [&](int rank, int size) {
        ++calls[static_cast<std::size_t>(rank)];
        sizes[static_cast<std::size_t>(rank)] = size;
      });
      EXPECT_EQ(calls, std::vector<int>(calls.size(), 1));
      EXPECT_EQ(sizes, std::vector<int>(calls.size(), team));
    }
  }
}

TEST(RunTeam, RanksRunAtTheSameTime) {
  // Each waits for all others: one after another they would wait for ever.
  for (const int team : {2, 7}) {
    std::atomic<int> here = 0;
    run_team(team, [&](int, int size) {
      for (++here; here < size;) std::this_thread::yield();
    });
    EXPECT_EQ(here, team);
  }
}

TEST(RunTeam, KeepsItsThreads) {
  std::vector<std::thread::id> first(4), second(4);
  const auto note_in = [](std::vector<std::thread::id>& ids) {
    return
        [&ids](int rank, int) { ids[static_cast<std::size_t>(rank)] = std::this_thread::get_id(); };
  };
  run_team(4, note_in(first));
  run_team(4, note_in(second));
  EXPECT_EQ(first, second);
  EXPECT_EQ(first[0], std::this_thread::get_id());
}

TEST(RunTeam, InsideATeamThereIsOneThread) {
  std::atomic<int> calls = 0, larger = 0;
  run_team(3, [&](int, int) {
    run_team(5, [&](int rank, int size) {
      ++calls;
      larger += rank != 0 || size != 1;
    });
  });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(larger, 0);
}

/// The other ranks work before the caller takes part.
TEST(StartTeam, RanksWorkBeforeTheTeamIsFinished) {
  struct Work {
    std::atomic<int> others = 0, own = 0;
  } work;
  const TeamWork call{[](const void* context, int rank, int) {
                        auto& to = *static_cast<Work*>(const_cast<void*>(context));
                        ++(rank == 0 ? to.own : to.others);
                      },
                      &work};
  for (int round = 1; round < 100; ++round) {
    ASSERT_EQ(start_team(3, call), 3);
    while (work.others < 2 * round) std::this_thread::yield();
    EXPECT_EQ(work.own, round - 1);
    finish_team();
    EXPECT_EQ(work.own, round);
    finish_team();  // finished already
    EXPECT_EQ(work.own, round);
  }
  EXPECT_EQ(start_team(1, call), 1);
  EXPECT_EQ(work.own, 99) << "a team of one is not started";
}

TEST(StartTeam, AnotherTeamFinishesItFirst) {
  std::atomic<int> done = 0;
  const TeamWork call{[](const void* context, int, int) {
                        ++*static_cast<std::atomic<int>*>(const_cast<void*>(context));
                      },
                      &done};
  ASSERT_EQ(start_team(3, call), 3);
  run_team(1, [&](int, int size) { EXPECT_EQ(size, 1); });
  std::atomic<int> found = 0;
  run_team(3, [&](int, int size) {
    found += done;
    EXPECT_EQ(size, 3);
  });
  EXPECT_EQ(found, 9);
  ASSERT_EQ(start_team(2, call), 2);
  ASSERT_EQ(start_team(2, call), 2);
  EXPECT_GE(done, 5);
  finish_team();
  EXPECT_EQ(done, 7);
}

TEST(RunTeam, ThreadsOfTheCallerHaveTeamsOfTheirOwn) {
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) run_team(3, [&](int, int) { ++calls; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 4 * 50 * 3);
}

#if !defined(__SANITIZE_THREAD__)  // which does not support threads after a fork
/// Whether a team of four calls each rank once.
bool team_of_four_works() {
  std::vector<int> calls(4);
  run_team(4, [&](int rank, int) { ++calls[static_cast<std::size_t>(rank)]; });
  return calls == std::vector<int>(4, 1);
}

TEST(RunTeam, WorksInTheChildOfAFork) {
  const unsigned before = fork_count();
  ASSERT_TRUE(team_of_four_works());
  EXPECT_EQ(test::status_of_child([&] {
              return team_of_four_works() && team_of_four_works() && fork_count() == before + 1 &&
                     test::status_of_child(team_of_four_works) == 0;
            }),
            0);
  EXPECT_TRUE(team_of_four_works());
  EXPECT_EQ(fork_count(), before);
}

TEST(RunTeam, AThreadMayEndInTheChildOfAFork) {
  // Its workers are not waited for.
  int status = -1;
  std::thread([&] {
    run_team(3, [](int, int) {});
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      return;  // the only thread of this process: its end is the end of the process
    }
    waitpid(child, &status, 0);
  }).join();
  EXPECT_EQ(status, 0);
}

TEST(StartTeam, WorkOfTheParentIsNotFinishedInTheChildOfAFork) {
  std::atomic<int> calls = 0;
  const TeamWork call{[](const void* context, int, int) {
                        ++*static_cast<std::atomic<int>*>(const_cast<void*>(context));
                      },
                      &calls};
  ASSERT_EQ(start_team(3, call), 3);
  while (calls < 2) std::this_thread::yield();
  EXPECT_EQ(test::status_of_child([&] {
              finish_team();
              return calls == 2 && team_of_four_works();
            }),
            0);
  finish_team();
  EXPECT_EQ(calls, 3);
}
#endif

TEST(Processors, QuotasOfControlGroupsCount) {
  const test::ScratchFolder folder;
  const std::string root = folder.file("root"), groups = folder.file("groups");
  std::filesystem::create_directories(root + "/a/b");
  const auto quota = [&](const std::string& text_of_groups) {
    std::ofstream(groups) << text_of_groups;
    return quota_of_control_group(groups, root);
  };
  const auto set = [&](const std::string& group, const std::string& text) {
    std::ofstream(root + group + "/cpu.max") << text;
  };
  EXPECT_EQ(quota("0::/a/b\n"), 0.0) << "no files";
  set("/a/b", "max 100000\n");
  EXPECT_EQ(quota("0::/a/b\n"), 0.0);
  set("/a", "250000 100000\n");
  EXPECT_EQ(quota("0::/a/b\n"), 2.5) << "that of a group above";
  set("/a/b", "150000 100000\n");
  EXPECT_EQ(quota("12:cpu:/x\n0::/a/b\n"), 1.5);
  EXPECT_EQ(quota("0::/a\n"), 2.5);
  EXPECT_EQ(quota("0::/\n"), 0.0);
  set("", "50000 100000\n");
  EXPECT_EQ(quota("0::/\n"), 0.5);
  EXPECT_EQ(quota("0::/a/b\n"), 0.5);
  EXPECT_EQ(quota("3:cpu:/a\n"), 0.0) << "version 1";
  EXPECT_EQ(quota(""), 0.0);
  EXPECT_EQ(quota_of_control_group(folder.file("none"), root), 0.0);
}

TEST(Processors, AreAtLeastOneAndAVariableLimitsThreads) {
  EXPECT_GE(processors(), 1);
  const char* const before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before != nullptr ? before : "";
  const auto threads = [](const char* text) {
    setenv("OMP_NUM_THREADS", text, 1);
    return default_threads();
  };
  EXPECT_EQ(threads("3"), 3);
  EXPECT_EQ(threads("5,2"), 5);
  for (const char* text : {"", "0", "-2", "many", "5000"}) EXPECT_EQ(threads(text), processors());
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(default_threads(), processors());
  if (before != nullptr) setenv("OMP_NUM_THREADS", kept.c_str(), 1);
}

TEST(ProcessorName, IsThatOfTheFirstProcessor) {
  const test::ScratchFolder folder;
  const std::string file = folder.file("cpuinfo");
  const auto name_of = [&](const std::string& text) {
    std::ofstream(file) << text;
    return processor_name(file);
  };
  EXPECT_EQ(name_of("processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\n"
                    "model name\t: Intel(R) Xeon(R)   Platinum 8488C\n\n"
                    "processor\t: 1\nmodel name\t: another\n"),
            "Intel(R) Xeon(R) Platinum 8488C (family 6, model 143)");
  EXPECT_EQ(name_of("model name : one of its kind\n"), "one of its kind");
  EXPECT_EQ(name_of("CPU implementer\t: 0x41\nno colon\n"), "");
  EXPECT_EQ(processor_name(folder.file("none")), "");
}

// --- loops: each index once, and no exception is lost ---

constexpr int kManyThreads = 5;

TEST(ForEachIndex, CallsEachOnceWithAWorkerOfItsThread) {
  for (const int n : {0, 1, 2, 7, 100}) {
    for (const int threads : {0, 1, kManyThreads}) {
      for (const int grain : {1, 3, 1000}) {
        std::vector<int> calls(static_cast<std::size_t>(n));
        std::atomic<int> workers = 0, in_use_twice = 0;
        for_each_index(
            n, threads,
            [&](int) {
              ++workers;
              return 0;
            },
            [&](int& users, std::int64_t i) {
              in_use_twice += ++users != 1;
              ++calls[static_cast<std::size_t>(i)];
              --users;
            },
            grain);
        EXPECT_EQ(calls, std::vector<int>(calls.size(), 1));
        EXPECT_EQ(in_use_twice, 0);
        EXPECT_LE(workers, n);
        if (threads > 0) {
          EXPECT_LE(workers, threads);
        }
      }
    }
  }
}

TEST(ForEachIndex, GivesABodysExceptionToTheCaller) {
  for (const int n : {1, 100}) {
    std::atomic<int> later = 0;
    try {
      for_each_index(
          n, 1, [](int) { return 0; },
          [&](int, std::int64_t i) {
            if (i == n / 2) throw std::runtime_error("number " + std::to_string(i));
            later += i > n / 2;
          });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "number " + std::to_string(n / 2));
    }
    EXPECT_EQ(later, 0);
  }
  // All threads at once: one of theirs.
  EXPECT_THROW(for_each_index(
                   100, kManyThreads, [](int) { return 0; },
                   [](int, std::int64_t) { throw std::runtime_error("all"); }),
               std::runtime_error);
}

TEST(ForEachIndex, GivesAWorkersExceptionToTheCaller) {
  EXPECT_THROW(for_each_index(
                   100, kManyThreads, [](int) -> int { throw std::bad_alloc(); },
                   [](int, std::int64_t) { ADD_FAILURE() << "a body without a worker"; }),
               std::bad_alloc);
}

// --- threads that work on one thing ---

/// Calls op(member) on each member of a team.
template <class Op>
void on_team(int size, const Op& op) {
  cpu::ThreadTeam team(size > static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      cpu::TeamMember member(team, rank, size);
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
    on_team(size, [&](cpu::TeamMember& member) {
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
      on_team(size, [&](cpu::TeamMember& member) {
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
    on_team(size, [&](cpu::TeamMember& member) {
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
    on_team(size, [&](cpu::TeamMember& member) {
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
    on_team(size, [&](cpu::TeamMember& member) {
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
}  // namespace tarn
