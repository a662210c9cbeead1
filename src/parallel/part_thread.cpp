#include "part_thread.hpp"

#include <utility>

namespace tarn::parallel {

PartThread::PartThread() : thread_([this] { serve(); }) {}

PartThread::~PartThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PartThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  changed_.notify_all();
}

std::exception_ptr PartThread::join() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty() && !is_working_; });
  return std::exchange(failure_, nullptr);
}

void PartThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !work_.empty(); });
    if (work_.empty()) return;
    const std::function<void()> next = std::move(work_.front());
    work_.pop_front();
    if (failure_) {
      changed_.notify_all();
      continue;
    }
    is_working_ = true;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      next();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    is_working_ = false;
    failure_ = thrown;
    changed_.notify_all();
  }
}

}  // namespace tarn::parallel
