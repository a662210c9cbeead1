#include "locks.hpp"

#include <atomic>
#include <chrono>
#include <pthread.h>

#include "core/threads.hpp"

namespace tarn::python {
namespace {

/// Objects of class Unlocked. Changed with the interpreter's lock, read without.
std::atomic<int> computations = 0;
void add_computations(int change) {
  computations.store(computations.load(std::memory_order_relaxed) + change,
                     std::memory_order_relaxed);
}
/// The thread that runs the functions of `atexit`, which may still compute.
std::atomic<std::thread::id> exiting{};
/// Whether the interpreter no longer waits for computations.
std::atomic<bool> is_over = false;

/// Other threads do not exist in the child of a fork.
[[maybe_unused]] const int forks_are_handled =
    pthread_atfork(nullptr, nullptr, [] { computations = 0; });

void sleep_if_over() {
  while (is_over && exits()) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

Unlocked::Unlocked() {
  if (exits()) {
    PyErr_SetNone(PyExc_SystemExit);
    throw nanobind::python_error();
  }
  forks_ = fork_count();
  add_computations(1);
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  sleep_if_over();
  PyEval_RestoreThread(state_);
  if (forks_ == fork_count()) add_computations(-1);
}

Locked::Locked() {
  sleep_if_over();
  state_ = PyGILState_Ensure();
}

bool exits(std::thread::id of) {
  const std::thread::id thread = exiting.load(std::memory_order_relaxed);
  return thread != std::thread::id() && thread != of;
}

void end_computations() {
  constexpr std::chrono::milliseconds kInterval(1), kLongest(5000);
  exiting = std::this_thread::get_id();
  PyThreadState* const state = PyEval_SaveThread();
  for (auto waited = kInterval; computations > 0 && waited < kLongest; waited += kInterval) {
    std::this_thread::sleep_for(kInterval);
  }
  is_over = true;
  PyEval_RestoreThread(state);
}

}  // namespace tarn::python
