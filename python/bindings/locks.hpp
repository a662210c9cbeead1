#pragma once

#include <nanobind/nanobind.h>
#include <thread>

/// @file
/// The interpreter's lock during computations, also while the interpreter exits.
///
/// Python ends threads that take the lock after its finalisation has begun. This would abort the
/// process, because C++ destructors cannot end that way. The interpreter therefore stops all
/// computations and waits for them before it finalises: see end_computations().

namespace tarn::python {

/// A time in which this thread computes without the interpreter's lock.
class Unlocked {
 public:
  /// @throws nanobind::python_error SystemExit, which ends a thread silently, if exits()
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
  unsigned forks_;
};

/// A time with the interpreter's lock within a computation.
class Locked {
 public:
  Locked();
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Whether the interpreter exits, and computations of a thread must end.
bool exits(std::thread::id of = std::this_thread::get_id());

/// For `atexit`: ends the computations of all other threads and waits for them, at most a few
/// seconds. Threads that are still computing then sleep when they need the lock.
void end_computations();

}  // namespace tarn::python
