#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>

#include "processors.hpp"
#include "threads.hpp"

/// @file
/// Parallel loops that rethrow exceptions to the caller. An exception that left a team's work would
/// end the program.

namespace tarn {

/// Keeps the first exception of the threads of a parallel region.
class FirstException {
 public:
  /// Calls f(), unless an exception was caught before.
  template <class F>
  void call(const F& f) noexcept {
    if (thrown_) return;
    try {
      f();
    } catch (...) {
      if (!thrown_.exchange(true)) first_ = std::current_exception();
    }
  }
  bool has_caught() const { return thrown_; }
  /// Rethrows the first exception; call it after the region.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::atomic<bool> thrown_ = false;
  std::exception_ptr first_;
};

/// A loop over i = 0 .. n-1 that several threads share.
class SharedLoop {
 public:
  /// @param grain consecutive i that a thread takes at a time
  explicit SharedLoop(std::int64_t n, std::int64_t grain = 1) : n_(n), grain_(grain) {}

  /// Number of threads that find work. @param threads 0: default_threads()
  int team(int threads) const {
    const std::int64_t most = threads > 0 ? threads : default_threads();
    return static_cast<int>(std::clamp<std::int64_t>((n_ + grain_ - 1) / grain_, 1, most));
  }
  /// The part of one thread: calls body(worker, i) until no i is left.
  template <class MakeWorker, class Body>
  void run(int rank, const MakeWorker& make_worker, const Body& body) noexcept {
    std::optional<decltype(make_worker(rank))> worker;
    for (;;) {
      const std::int64_t begin = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (begin >= n_) return;
      for (std::int64_t i = begin; i < std::min(begin + grain_, n_); ++i) {
        caught_.call([&] {
          if (!worker) worker.emplace(make_worker(rank));
          body(*worker, i);
        });
      }
    }
  }
  /// Rethrows the first exception; call it after all threads have ended.
  void rethrow() const { caught_.rethrow(); }

 private:
  FirstException caught_;
  std::atomic<std::int64_t> next_ = 0;
  std::int64_t n_, grain_;
};

/// Calls body(worker, i) for i = 0 .. n-1. Each thread has its own worker from make_worker(rank),
/// with rank below the number of threads. After an exception no further i is started, and the first
/// exception is rethrown.
/// @param threads 0: default_threads(); at most one per i is used
/// @param grain consecutive i that a thread takes at a time
template <class MakeWorker, class Body>
void for_each_index(std::int64_t n, int threads, const MakeWorker& make_worker, const Body& body,
                    std::int64_t grain = 1) {
  SharedLoop loop(n, grain);
  run_team(loop.team(threads), [&](int rank, int) { loop.run(rank, make_worker, body); });
  loop.rethrow();
}

/// The same without workers: body(i).
template <class Body>
void for_each_index(std::int64_t n, int threads, const Body& body) {
  struct NoWorker {};
  for_each_index(
      n, threads, [](int) { return NoWorker{}; }, [&](NoWorker, std::int64_t i) { body(i); });
}

}  // namespace tarn
