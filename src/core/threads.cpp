#include "threads.hpp"

#include <atomic>
#include <memory>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

#include "processors.hpp"

namespace tarn {
namespace {

/// Waits until the number differs from `old`, and returns it.
unsigned wait_for_change(const std::atomic<unsigned>& number, unsigned old, int spins) {
  for (int spin = 0;; ++spin) {
    const unsigned now = number.load(std::memory_order_acquire);
    if (now != old) return now;
    if (spin < spins) {
      spin_pause();
    } else {
      number.wait(old, std::memory_order_acquire);
    }
  }
}

/// Whether this thread runs the work of a team.
thread_local bool inside_team = false;

/// The worker threads of one calling thread, with ranks from 1 on.
class WorkerPool {
 public:
  ~WorkerPool() {
    for (const auto& worker : workers_) worker->give({});
    for (const auto& worker : workers_) worker->thread.join();
  }

  /// @return the size of the team; with 1, nothing was started
  int start(int wanted, const TeamWork& work) {
    finish();
    team_ = grow_to(wanted);
    if (team_ == 1) return 1;
    is_started_ = true;
    work_ = work;
    spins_ = team_ > processors() ? kSpinsIfOversubscribed : kSpinsBeforeSleep;
    for (int rank = 1; rank < team_; ++rank) worker_of(rank).give({&work_, team_, spins_});
    return team_;
  }
  /// Takes part in the work that was started, if it has not been finished.
  void finish() {
    if (!is_started_) return;
    is_started_ = false;
    inside_team = true;
    work_.call(work_.context, 0, team_);
    inside_team = false;
    for (int rank = 1; rank < team_; ++rank) worker_of(rank).wait(spins_);
  }

 private:
  struct Task {
    const TeamWork* work = nullptr;  // null: exit
    int team = 0;
    int spins = kSpinsBeforeSleep;
  };
  struct Worker {
    // Numbers of tasks given and done: counters cannot be confused with those of an older task.
    alignas(64) std::atomic<unsigned> given{0};
    alignas(64) std::atomic<unsigned> done{0};
    Task task;
    std::thread thread;

    explicit Worker(int rank) : thread([this, rank] { serve(rank); }) {}
    void give(const Task& next) {
      task = next;
      given.fetch_add(1, std::memory_order_release);
      given.notify_one();
    }
    void wait(int spins) const {
      const unsigned all = given.load(std::memory_order_relaxed);
      for (unsigned now = done.load(std::memory_order_acquire); now != all;) {
        now = wait_for_change(done, now, spins);
      }
    }
    void serve(int rank) {
      inside_team = true;
      int spins = kSpinsBeforeSleep;
      for (unsigned seen = 0;; ++seen) {
        wait_for_change(given, seen, spins);
        if (task.work == nullptr) return;
        spins = task.spins;
        task.work->call(task.work->context, rank, task.team);
        done.fetch_add(1, std::memory_order_release);
        done.notify_one();
      }
    }
  };
  /// @return the size of the team, which is smaller if the system provides no more threads
  int grow_to(int team) {
    workers_.reserve(static_cast<std::size_t>(team - 1));
    try {
      while (size() < team) workers_.push_back(std::make_unique<Worker>(size()));
    } catch (const std::system_error&) {
      return size();  // the system provides no more threads
    }
    return team;
  }
  int size() const { return static_cast<int>(workers_.size()) + 1; }
  Worker& worker_of(int rank) { return *workers_[static_cast<std::size_t>(rank - 1)]; }

  std::vector<std::unique_ptr<Worker>> workers_;
  // Of the last start():
  TeamWork work_{};
  int team_ = 1, spins_ = kSpinsBeforeSleep;
  bool is_started_ = false;
};

/// Counts forks in their children: cheaper to read than the process id, which is a system call.
std::atomic<unsigned> forks = 0;
[[maybe_unused]] const int forks_are_counted = pthread_atfork(nullptr, nullptr, [] { ++forks; });

/// The workers of this thread. After a fork they exist in the parent only.
class OwnPool {
 public:
  OwnPool() = default;
  OwnPool(const OwnPool&) = delete;
  OwnPool& operator=(const OwnPool&) = delete;
  ~OwnPool() { abandon_after_fork(); }

  /// Null if there are no workers.
  WorkerPool* find() {
    abandon_after_fork();
    return pool_.get();
  }
  WorkerPool& get() {
    if (find() == nullptr) pool_ = std::make_unique<WorkerPool>();
    return *pool_;
  }

 private:
  /// The memory of the workers stays: their destructors would wait for threads that do not exist.
  void abandon_after_fork() {
    if (forks_ == fork_count()) return;
    forks_ = fork_count();
    static_cast<void>(pool_.release());
  }

  std::unique_ptr<WorkerPool> pool_;
  unsigned forks_ = fork_count();
};

OwnPool& pool_of_this_thread() {
  thread_local OwnPool pool;
  return pool;
}

}  // namespace

unsigned fork_count() { return forks.load(std::memory_order_relaxed); }

int start_team(int team, const TeamWork& work) {
  return team <= 1 || inside_team ? 1 : pool_of_this_thread().get().start(team, work);
}

void finish_team() {
  if (WorkerPool* const pool = pool_of_this_thread().find()) pool->finish();
}

void run_team(int team, const TeamWork& work) {
  if (start_team(team, work) > 1) return finish_team();
  work.call(work.context, 0, 1);
}

}  // namespace tarn
