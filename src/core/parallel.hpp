#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>

#include "threads.hpp"

/// @file
/// Threads whose exceptions reach the caller. One that leaves a parallel region ends the program.

namespace tarn {

/// What the threads of a parallel region throw, until the region is left.
class FirstException {
 public:
  /// Calls f(), unless something was thrown before.
  template <class F>
  void call(const F& f) noexcept {
    if (thrown_) return;
    try {
      f();
    } catch (...) {
      if (!thrown_.exchange(true)) first_ = std::current_exception();
    }
  }
  /// Behind the region: throws the first again.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::atomic<bool> thrown_ = false;
  std::exception_ptr first_;
};

/// Calls body(worker, i) for i = 0 .. n-1 on some threads, each with a worker of its own from
/// make_worker(rank), rank below the number of threads. After an exception no new i is begun, and
/// one of those thrown is thrown again.
/// @param threads 0: default_threads(); no more than there are i, as one that only waits at the end
///        costs time
/// @param grain how many i in a row a thread takes
template <class MakeWorker, class Body>
void for_each_index(std::int64_t n, int threads, const MakeWorker& make_worker, const Body& body,
                    std::int64_t grain = 1) {
  FirstException caught;
  std::atomic<std::int64_t> next = 0;
  const std::int64_t most = threads > 0 ? threads : default_threads();
  const std::int64_t pieces = (n + grain - 1) / grain;
  run_team(static_cast<int>(std::clamp<std::int64_t>(pieces, 1, most)), [&](int rank, int) {
    std::optional<decltype(make_worker(rank))> worker;
    for (;;) {
      const std::int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= n) return;
      for (std::int64_t i = begin; i < std::min(begin + grain, n); ++i) {
        caught.call([&] {
          if (!worker) worker.emplace(make_worker(rank));
          body(*worker, i);
        });
      }
    }
  });
  caught.rethrow();
}

/// The same without workers: body(i).
template <class Body>
void for_each_index(std::int64_t n, int threads, const Body& body) {
  struct Nobody {};
  for_each_index(
      n, threads, [](int) { return Nobody{}; }, [&](Nobody, std::int64_t i) { body(i); });
}

}  // namespace tarn
