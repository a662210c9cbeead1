#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>

/// @file
/// Threads whose exceptions reach the caller. One that leaves a parallel region ends the program.

namespace tarn {

/// What the threads of a parallel region throw, until the region is left.
class Caught {
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
/// make_worker(). After an exception no new i is begun, and one of those thrown is thrown again.
/// @param threads 0: all
/// @param grain how many i in a row a thread takes
template <class MakeWorker, class Body>
void for_each_index(std::int64_t n, int threads, const MakeWorker& make_worker, const Body& body,
                    std::int64_t grain = 1) {
  Caught caught;
  const int team = threads > 0 ? threads : omp_get_max_threads();
#pragma omp parallel num_threads(team) if (n > 1)
  {
    std::optional<decltype(make_worker())> worker;
#pragma omp for schedule(dynamic, grain)
    for (std::int64_t i = 0; i < n; ++i) {
      caught.call([&] {
        if (!worker) worker.emplace(make_worker());
        body(*worker, i);
      });
    }
  }
  caught.rethrow();
}

}  // namespace tarn
