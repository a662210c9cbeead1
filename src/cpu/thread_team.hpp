#pragma once

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/threads.hpp"

namespace tarn::cpu {

/// What threads that work on the same thing share. Each of them is a TeamMember.
class ThreadTeam {
 public:
  /// @param oversubscribed whether there are more members than processors
  explicit ThreadTeam(bool oversubscribed = false)
      : spins_(oversubscribed ? kSpinsIfOversubscribed : kSpinsBeforeSleep) {}

 private:
  friend class TeamMember;
  static constexpr int kLine = 64;  ///< bytes that go from one processor to another at once

  // Unsigned, so that they may wrap around.
  alignas(kLine) std::atomic<unsigned> arrived_{0};  ///< at meetings, in all
  alignas(kLine) std::atomic<unsigned> taken_{0};    ///< tasks, in all
  alignas(kLine) std::atomic<unsigned> raised_{0};   ///< the last meeting for any()
  std::exception_ptr thrown_;                        ///< by what one member did alone
  const int spins_;  ///< how often a member looks for the others before it sleeps
};

/// One thread of a team, or a thread by itself. All members of a team run the same code, each on
/// its own part, and call what follows in the same order. The others would wait for ever for one
/// that throws an exception: what may throw (and what allocates memory may) is done by alone().
class TeamMember {
 public:
  TeamMember() = default;
  TeamMember(ThreadTeam& team, int rank, int size)
      : team_(size > 1 ? &team : nullptr), rank_(rank), size_(size) {}
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Waits for the others: all then see what each has done.
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
  /// Calls f() on one thread, while the others wait. All of them throw what it throws.
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
  /// Whether it is so for one of them.
  bool any(bool so) {
    if (team_ == nullptr) return so;
    std::atomic<unsigned>& meeting = team_->raised_;
    if (so) meeting.store(met_ + static_cast<unsigned>(size_), std::memory_order_relaxed);
    barrier();
    const bool all = meeting.load(std::memory_order_relaxed) == met_;
    if (all) barrier();  // before it is raised again
    return all;
  }
  /// Calls task(k) for each k below `tasks`, the next one on the first thread that is free, and
  /// waits for all. It must not throw.
  template <class F>
  void for_each_task(int tasks, const F& task) {
    if (team_ == nullptr) {
      for (int k = 0; k < tasks; ++k) task(k);
      return;
    }
    // The first ones are given; each member that has one asks for more until none is left. So there
    // are as many answers as tasks, and all know where those of the next time begin.
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
  unsigned met_ = 0;    ///< arrivals that its meetings took
  unsigned taken_ = 0;  ///< answers that were given before
};

}  // namespace tarn::cpu
