#include "src/core/parallel.hpp"

#include <atomic>

#include "testing.hpp"

/// @file
/// Loops over threads: each index once, and no exception is lost.

namespace tarn {
namespace {

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

}  // namespace
}  // namespace tarn
