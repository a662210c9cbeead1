#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "core/threads.hpp"

namespace tarn::cpu {

/// Shared state of the threads that step one replica together. Each thread is a TeamMember.
class ThreadTeam {
 public:
  /// @param oversubscribed whether there are more members than processors
  explicit ThreadTeam(bool oversubscribed = false)
      : spins_(oversubscribed ? kSpinsIfOversubscribed : kSpinsBeforeSleep) {}

 private:
  friend class TeamMember;
  static constexpr int kLine = 64;  ///< bytes per cache line

  // Unsigned, because they may wrap around.
  alignas(kLine) std::atomic<unsigned> arrived_{0};  ///< total arrivals at barriers
  alignas(kLine) std::atomic<unsigned> taken_{0};    ///< total requests for tasks
  alignas(kLine) std::atomic<unsigned> raised_{0};   ///< the barrier of the last true any()
  std::exception_ptr thrown_;                        ///< by the function of on_one()
  const int spins_;                                  ///< polls of the others before a member sleeps
};

/// One thread of a team, or a single thread. All members of a team run the same code, each on its
/// own part, and call the functions below in the same order. A member that throws would leave the
/// others waiting: code that may throw, such as allocations, must run in on_one().
class TeamMember {
 public:
  TeamMember() = default;
  TeamMember(ThreadTeam& team, int rank, int size)
      : team_(size > 1 ? &team : nullptr), rank_(rank), size_(size) {}
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Waits for all members; their writes are visible afterwards.
  void barrier() {
    if (team_ == nullptr) return;
    met_ += static_cast<unsigned>(size_);
    if (team_->arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == met_) {
      team_->arrived_.notify_all();
      return;
    }
    for (int spin = 0;; ++spin) {
      const unsigned arrived = team_->arrived_.load(std::memory_order_acquire);
      if (static_cast<int>(arrived - met_) >= 0) return;
      if (spin < team_->spins_) {
        spin_pause();
      } else {
        team_->arrived_.wait(arrived, std::memory_order_acquire);
      }
    }
  }
  /// Calls f() on one thread while the others wait. All members rethrow its exception.
  template <class F>
  void on_one(const F& f) {
    if (team_ == nullptr) return f();
    barrier();
    if (rank_ == 0) {
      try {
        f();
      } catch (...) {
        team_->thrown_ = std::current_exception();
      }
    }
    barrier();
    if (team_->thrown_) std::rethrow_exception(team_->thrown_);
  }
  /// Whether the condition is true for any member.
  bool any(bool so) {
    if (team_ == nullptr) return so;
    std::atomic<unsigned>& meeting = team_->raised_;
    if (so) meeting.store(met_ + static_cast<unsigned>(size_), std::memory_order_relaxed);
    barrier();
    const bool all = meeting.load(std::memory_order_relaxed) == met_;
    if (all) barrier();  // before the next any() can store
    return all;
  }
  /// Calls task(k) for each k below `tasks`, each on the first free thread, and waits for all. The
  /// tasks must not throw.
  template <class F>
  void for_each_task(int tasks, const F& task) {
    if (team_ == nullptr) {
      for (int k = 0; k < tasks; ++k) task(k);
      return;
    }
    // The first tasks are assigned by rank; members with a task request more until none is left.
    // The number of requests equals that of tasks, so that all members can compute the next start.
    const int given = std::min(size_, tasks);
    for (int k = rank_; k < tasks;) {
      task(k);
      k = given + static_cast<int>(team_->taken_.fetch_add(1, std::memory_order_relaxed) - taken_);
    }
    taken_ += static_cast<unsigned>(tasks);
    barrier();
  }

 private:
  ThreadTeam* team_ = nullptr;
  int rank_ = 0, size_ = 1;
  unsigned met_ = 0;    ///< total arrivals after the last barrier
  unsigned taken_ = 0;  ///< total requests before this call
};

/// Stages are timed at every step whose number is a multiple of this, and the times are scaled. The
/// stages of such a step are separate passes.
inline constexpr std::int64_t kTimedSteps = 64;

/// Measures the stages of a timed step.
class StageClock {
 public:
  explicit StageClock(bool on = false) : on_(on) {
    if (on_) last_ = std::chrono::steady_clock::now();
  }
  bool is_on() const { return on_; }
  /// Time since the last stage, scaled; 0 if the step is not timed.
  double take() {
    if (!on_) return 0.0;
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return kTimedSteps * std::chrono::duration<double>(last_ - before).count();
  }
  void add_to(double& seconds) { seconds += take(); }

 private:
  bool on_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tarn::cpu
