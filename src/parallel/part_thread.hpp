#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tarn::parallel {

/// A thread that works in order.
class PartThread {
 public:
  PartThread();
  PartThread(const PartThread&) = delete;
  PartThread& operator=(const PartThread&) = delete;
  /// Completes the work first.
  ~PartThread();

  /// After an exception, work is skipped until join().
  void post(std::function<void()> work);
  /// Waits for all work. @return the first exception since the last join(), or null
  std::exception_ptr join();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool is_working_ = false, ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  ///< uses the members above
};

}  // namespace tarn::parallel
