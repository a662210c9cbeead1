#include "threads.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tarn {
namespace {

int count_processors() {
  int count = static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u));
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = std::max(CPU_COUNT(&set), 1);
#endif
  const double quota = quota_of_control_group("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota > 0.0 ? std::min(count, std::max(static_cast<int>(std::ceil(quota)), 1)) : count;
}

/// Returns the value when it is no longer `old`.
unsigned wait_for_change(const std::atomic<unsigned>& number, unsigned old, int looks) {
  for (int look = 0;; ++look) {
    const unsigned now = number.load(std::memory_order_acquire);
    if (now != old) return now;
    if (look < looks) {
      spin_pause();
    } else {
      number.wait(old, std::memory_order_acquire);
    }
  }
}

/// Whether this thread does the work of a team.
thread_local bool inside_team = false;

/// The threads of one that gives work; each has a rank of at least 1.
class Threads {
 public:
  ~Threads() {
    for (const auto& helper : helpers_) helper->give({});
    for (const auto& helper : helpers_) helper->thread.join();
  }

  void run(int most, const TeamWork& work) {
    const int team = grow_to(most);
    const int looks = team > processors() ? kSpinsIfOversubscribed : kSpinsBeforeSleep;
    for (int rank = 1; rank < team; ++rank) helper_of(rank).give({&work, team, looks});
    inside_team = true;
    work.call(work.context, 0, team);
    inside_team = false;
    for (int rank = 1; rank < team; ++rank) helper_of(rank).wait(looks);
  }

 private:
  struct Task {
    const TeamWork* work = nullptr;  // null: the end
    int team = 0;
    int looks = kSpinsBeforeSleep;
  };
  struct Helper {
    // Given and done count pieces of work, so that no answer can be taken for an older one.
    alignas(64) std::atomic<unsigned> given{0};
    alignas(64) std::atomic<unsigned> done{0};
    Task task;
    std::thread thread;

    explicit Helper(int rank) : thread([this, rank] { serve(rank); }) {}
    void give(const Task& next) {
      task = next;
      given.fetch_add(1, std::memory_order_release);
      given.notify_one();
    }
    void wait(int looks) const {
      const unsigned all = given.load(std::memory_order_relaxed);
      for (unsigned now = done.load(std::memory_order_acquire); now != all;) {
        now = wait_for_change(done, now, looks);
      }
    }
    void serve(int rank) {
      inside_team = true;
      int looks = kSpinsBeforeSleep;
      for (unsigned seen = 0;; ++seen) {
        wait_for_change(given, seen, looks);
        if (task.work == nullptr) return;
        looks = task.looks;
        task.work->call(task.work->context, rank, task.team);
        done.fetch_add(1, std::memory_order_release);
        done.notify_one();
      }
    }
  };
  /// @return the size of the team that there can be
  int grow_to(int team) {
    helpers_.reserve(static_cast<std::size_t>(team - 1));
    try {
      while (size() < team) helpers_.push_back(std::make_unique<Helper>(size()));
    } catch (const std::system_error&) {
      return size();  // no more threads
    }
    return team;
  }
  int size() const { return static_cast<int>(helpers_.size()) + 1; }
  Helper& helper_of(int rank) { return *helpers_[static_cast<std::size_t>(rank - 1)]; }

  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace

std::string processor_name(const std::string& cpuinfo) {
  std::ifstream lines(cpuinfo);
  std::map<std::string, std::string> values;
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream key_words(line.substr(0, colon)), value_words(line.substr(colon + 1));
    const auto joined = [](std::istringstream& words) {
      std::string all;
      for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
      return all;
    };
    values[joined(key_words)] = joined(value_words);
  }
  std::string name = values["model name"];
  if (!name.empty() && !values["cpu family"].empty() && !values["model"].empty()) {
    name += " (family " + values["cpu family"] + ", model " + values["model"] + ")";
  }
  return name;
}

double quota_of_control_group(const std::string& groups, const std::string& root) {
  std::ifstream lines(groups);
  std::string line, folder;
  while (std::getline(lines, line)) {
    if (line.starts_with("0::/")) folder = line.substr(3);
  }
  double least = 0.0;
  while (!folder.empty()) {
    std::ifstream file(root + folder + "/cpu.max");
    double quota = 0.0, period = 0.0;  // "max" in place of a quota is no number
    if (file >> quota >> period && quota > 0.0 && period > 0.0) {
      least = least > 0.0 ? std::min(least, quota / period) : quota / period;
    }
    folder = folder == "/" ? "" : folder.substr(0, std::max<std::size_t>(folder.rfind('/'), 1));
  }
  return least;
}

int processors() {
  static const int count = count_processors();
  return count;
}

int default_threads() {
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  const long threads = asked != nullptr ? std::strtol(asked, nullptr, 10) : 0;
  return threads > 0 && threads <= 4096 ? static_cast<int>(threads) : processors();
}

void run_team(int team, const TeamWork& work) {
  if (team <= 1 || inside_team) return work.call(work.context, 0, 1);
  thread_local Threads threads;
  threads.run(team, work);
}

}  // namespace tarn
