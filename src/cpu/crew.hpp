#pragma once

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/threads.hpp"

namespace tarn::cpu {

/// What threads that work on the same thing share. Each of them is a Hand.
class Crew {
 public:
  /// @param crowded whether there are more hands than processors
  explicit Crew(bool crowded = false) : looks_(crowded ? kLooksIfCrowded : kLooksBeforeSleep) {}

 private:
  friend class Hand;
  static constexpr int kLine = 64;  ///< bytes that go from one processor to another at once

  // Unsigned, so that they may wrap around.
  alignas(kLine) std::atomic<unsigned> arrived_{0};  ///< at meetings, in all
  alignas(kLine) std::atomic<unsigned> taken_{0};    ///< tasks, in all
  alignas(kLine) std::atomic<unsigned> raised_{0};   ///< the last meeting for any()
  std::exception_ptr thrown_;                        ///< by what one hand did alone
  const int looks_;  ///< how often a hand looks for the others before it sleeps
};

/// One thread of a crew, or a thread by itself. All hands of a crew run the same code, each on its
/// own part, and call what follows in the same order. The others would wait for ever for one that
/// throws an exception: what may throw (and what allocates memory may) is done by alone().
class Hand {
 public:
  Hand() = default;
  Hand(Crew& crew, int rank, int size)
      : crew_(size > 1 ? &crew : nullptr), rank_(rank), size_(size) {}
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Waits for the others: all then see what each has done.
  void meet() {
    if (crew_ == nullptr) return;
    met_ += static_cast<unsigned>(size_);
    if (crew_->arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == met_) {
      crew_->arrived_.notify_all();
      return;
    }
    for (int look = 0;; ++look) {
      const unsigned arrived = crew_->arrived_.load(std::memory_order_acquire);
      if (static_cast<int>(arrived - met_) >= 0) return;
      if (look < crew_->looks_) {
        pause_of_a_look();
      } else {
        crew_->arrived_.wait(arrived, std::memory_order_acquire);
      }
    }
  }
  /// Calls f() on one thread, while the others wait. All of them throw what it throws.
  template <class F>
  void alone(const F& f) {
    if (crew_ == nullptr) return f();
    meet();
    if (rank_ == 0) {
      try {
        f();
      } catch (...) {
        crew_->thrown_ = std::current_exception();
      }
    }
    meet();
    if (crew_->thrown_) std::rethrow_exception(crew_->thrown_);
  }
  /// Whether it is so for one of them.
  bool any(bool so) {
    if (crew_ == nullptr) return so;
    std::atomic<unsigned>& meeting = crew_->raised_;
    if (so) meeting.store(met_ + static_cast<unsigned>(size_), std::memory_order_relaxed);
    meet();
    const bool all = meeting.load(std::memory_order_relaxed) == met_;
    if (all) meet();  // before it is raised again
    return all;
  }
  /// Calls task(k) for each k below `tasks`, the next one on the first thread that is free, and
  /// waits for all. It must not throw.
  template <class F>
  void share(int tasks, const F& task) {
    if (crew_ == nullptr) {
      for (int k = 0; k < tasks; ++k) task(k);
      return;
    }
    // The first ones are given; each hand that has one asks for more until none is left. So there
    // are as many answers as tasks, and all know where those of the next time begin.
    const int given = std::min(size_, tasks);
    for (int k = rank_; k < tasks;) {
      task(k);
      k = given + static_cast<int>(crew_->taken_.fetch_add(1, std::memory_order_relaxed) - taken_);
    }
    taken_ += static_cast<unsigned>(tasks);
    meet();
  }

 private:
  Crew* crew_ = nullptr;
  int rank_ = 0, size_ = 1;
  unsigned met_ = 0;    ///< arrivals that its meetings took
  unsigned taken_ = 0;  ///< answers that were given before
};

}  // namespace tarn::cpu
