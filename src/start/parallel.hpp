#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>

namespace tarn::start {

/// Calls body(worker, i) for i = 0 .. n-1 on some threads, each with a worker of its own from
/// make_worker(). After an exception no new i is begun, and one of those thrown is thrown again.
/// @param threads 0: all
template <class MakeWorker, class Body>
void for_each_index(std::int64_t n, int threads, const MakeWorker& make_worker, const Body& body) {
  std::exception_ptr error;
  std::atomic<bool> failed = false;
  const int team = threads > 0 ? threads : omp_get_max_threads();
#pragma omp parallel num_threads(team) if (n > 1)
  {
    std::optional<decltype(make_worker())> worker;
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < n; ++i) {
      if (failed) continue;
      try {
        if (!worker) worker.emplace(make_worker());
        body(*worker, i);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tarn::start
