#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "start_sources.hpp"
#include "tarn/core/number.hpp"

namespace tarn::start {
namespace {

/// Images of one task, with the arrays of its results.
struct Images {
  std::int64_t task = 0;
  std::span<const double> positions_A;
  std::vector<std::int64_t> ids;
  std::span<double> energies_kcal_per_mol, forces_kcal_per_mol_A;
};

/// Calls the potential for the images of several tasks. Results are NaN before the call.
void call(Potential& potential, std::span<Images* const> all) {
  if (all.size() == 1) {
    Images& one = *all.front();
    std::ranges::fill(one.energies_kcal_per_mol, kNoNumber);
    std::ranges::fill(one.forces_kcal_per_mol_A, kNoNumber);
    return potential.compute(one.positions_A, one.ids, one.energies_kcal_per_mol,
                             one.forces_kcal_per_mol_A);
  }
  std::vector<double> positions;
  std::vector<std::int64_t> ids;
  for (const Images* images : all) {
    positions.insert(positions.end(), images->positions_A.begin(), images->positions_A.end());
    ids.insert(ids.end(), images->ids.begin(), images->ids.end());
  }
  std::vector<double> energies(ids.size(), kNoNumber), forces(positions.size(), kNoNumber);
  potential.compute(positions, ids, energies, forces);
  auto energy = energies.cbegin();
  auto force = forces.cbegin();
  const auto take = [](auto& from, std::span<double> to) {
    std::copy_n(from, to.size(), to.begin());
    from += static_cast<std::ptrdiff_t>(to.size());
  };
  for (Images* images : all) {
    take(energy, images->energies_kcal_per_mol);
    take(force, images->forces_kcal_per_mol_A);
  }
}

/// Passes the images of one task on.
class PotentialOfTask final : public Potential {
 public:
  using Pass = std::function<void(Images&)>;

  PotentialOfTask(std::int64_t task, std::int64_t id, std::int64_t stride, std::string name,
                  Pass pass)
      : task_(task), id_(id), stride_(stride), name_(std::move(name)), pass_(std::move(pass)) {}

  void compute(std::span<const double> positions_A, std::span<const std::int64_t> image_ids,
               std::span<double> energies_kcal_per_mol,
               std::span<double> forces_kcal_per_mol_A) override {
    Images images{task_, positions_A, {}, energies_kcal_per_mol, forces_kcal_per_mol_A};
    for (const std::int64_t k : image_ids) images.ids.push_back(id_ + stride_ * k);
    pass_(images);
  }
  std::string name() const override { return name_; }

 private:
  std::int64_t task_, id_, stride_;
  std::string name_;
  Pass pass_;
};

using Task = std::function<void(std::int64_t i, const std::shared_ptr<Potential>&)>;

/// The tasks and their threads.
class SharedCalls {
 public:
  SharedCalls(Potential& potential, std::span<const std::int64_t> ids, std::int64_t stride,
              const Task& task)
      : potential_(potential), ids_(ids), stride_(stride), task_(task), name_(potential.name()) {}

  void run() {
    std::vector<std::thread> threads;
    const std::size_t most = std::min<std::size_t>(ids_.size(), kMostTasks);
    threads.reserve(most);
    waiting_.reserve(most);
    failures_.reserve(most + 1);
    std::unique_lock lock(mutex_);
    while (threads.size() < most) {
      ++running_;
      try {
        threads.emplace_back([this] { work(); });
      } catch (...) {
        --running_;
        if (threads.empty()) throw;
        break;  // the system provides no more threads
      }
    }
    serve(lock);
    is_ending_ = true;
    lock.unlock();
    released_.notify_all();
    for (std::thread& thread : threads) thread.join();
    if (!failures_.empty()) {
      std::rethrow_exception(std::ranges::min(failures_, {}, &Failure::task).exception);
    }
  }

 private:
  struct Failure {
    std::int64_t task;
    std::exception_ptr exception;
  };

  /// Calls the potential until all tasks have ended or one has failed.
  void serve(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      all_wait_.wait(lock, [this] { return running_ == 0; });
      if (!failures_.empty() || waiting_.empty()) return;
      std::ranges::sort(waiting_, {}, &Images::task);
      try {
        // The threads wait, and none reads or writes anything.
        call(potential_, waiting_);
      } catch (...) {
        failures_.push_back({-1, std::current_exception()});
        return;
      }
      running_ = static_cast<int>(waiting_.size());
      waiting_.clear();
      ++calls_;
      released_.notify_all();
    }
  }
  /// A thread: runs tasks until none is left.
  void work() {
    std::unique_lock lock(mutex_);
    while (!is_ending_ && failures_.empty() && next_ < std::ssize(ids_)) {
      const std::int64_t i = next_++;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        task_(i,
              std::make_shared<PotentialOfTask>(i, ids_[static_cast<std::size_t>(i)], stride_,
                                                name_, [this](Images& images) { pass(images); }));
      } catch (const TaskEnded&) {
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown) failures_.push_back({i, std::move(thrown)});
    }
    stop_running();
  }
  /// Waits for the results of a task.
  void pass(Images& images) {
    std::unique_lock lock(mutex_);
    const std::int64_t call = calls_;
    waiting_.push_back(&images);
    stop_running();
    released_.wait(lock, [&] { return calls_ > call || is_ending_; });
    if (calls_ == call) throw TaskEnded();
  }
  void stop_running() {
    if (--running_ == 0) all_wait_.notify_one();
  }

  Potential& potential_;
  std::span<const std::int64_t> ids_;
  std::int64_t stride_;
  const Task& task_;
  std::string name_;

  std::mutex mutex_;
  std::condition_variable all_wait_;  ///< running_ is 0
  std::condition_variable released_;  ///< results are there, or is_ending_
  std::int64_t next_ = 0;             ///< task to begin next
  int running_ = 0;                   ///< threads that neither wait nor have ended
  std::vector<Images*> waiting_;
  std::int64_t calls_ = 0;
  bool is_ending_ = false;
  std::vector<Failure> failures_;
};

/// A task alone. What it makes of an exception of the potential is not used.
void run_alone(Potential& potential, std::int64_t id, std::int64_t stride, const Task& task) {
  std::exception_ptr thrown;
  const auto pass = [&](Images& images) {
    if (thrown) throw TaskEnded();
    try {
      Images* const one = &images;
      call(potential, {&one, 1});
    } catch (...) {
      thrown = std::current_exception();
      throw TaskEnded();
    }
  };
  try {
    task(0, std::make_shared<PotentialOfTask>(0, id, stride, potential.name(), pass));
  } catch (const TaskEnded&) {
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

void share_calls(Potential& potential, std::span<const std::int64_t> ids, std::int64_t stride,
                 const Task& task) {
  if (ids.empty()) return;
  if (ids.size() == 1) return run_alone(potential, ids.front(), stride, task);
  SharedCalls(potential, ids, stride, task).run();
}

}  // namespace tarn::start
