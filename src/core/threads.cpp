#include "threads.hpp"

#include <atomic>
#include <memory>
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

  void run(int wanted, const TeamWork& work) {
    const int team = grow_to(wanted);
    const int spins = team > processors() ? kSpinsIfOversubscribed : kSpinsBeforeSleep;
    for (int rank = 1; rank < team; ++rank) worker_of(rank).give({&work, team, spins});
    inside_team = true;
    work.call(work.context, 0, team);
    inside_team = false;
    for (int rank = 1; rank < team; ++rank) worker_of(rank).wait(spins);
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
};

}  // namespace

void run_team(int team, const TeamWork& work) {
  if (team <= 1 || inside_team) return work.call(work.context, 0, 1);
  thread_local WorkerPool pool;
  pool.run(team, work);
}

}  // namespace tarn
