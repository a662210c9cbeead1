#pragma once

#include <atomic>
#include <nanobind/nanobind.h>
#include <optional>
#include <thread>
#include <utility>

#include "locks.hpp"

namespace tarn::python {

/// Runs signal handlers that are due, in the main thread. Called without the interpreter's lock.
/// @throws nanobind::python_error their exception; SystemExit if the interpreter exits
inline void throw_if_interrupted() {
  const Locked lock;
  if (exits()) PyErr_SetNone(PyExc_SystemExit);
  if (exits() || PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

/// Signals during a computation without the interpreter's lock. Python runs its signal handlers in
/// the main thread only; that of SIGINT raises KeyboardInterrupt.
class Interrupts {
 public:
  /// @param noted a tarn._run.Interrupt, whose handler notes signals and raises nothing, so that
  ///        Python functions that the computation calls are not interrupted; or None
  explicit Interrupts(nanobind::object noted = nanobind::none()) : noted_(std::move(noted)) {}

  /// Whether a signal was noted, a signal handler raised an exception, or the interpreter exits.
  /// Called without the interpreter's lock, by any thread.
  bool pending() {
    if (exits(caller_)) stopped_ = true;
    if (stopped_ || std::this_thread::get_id() != caller_) return stopped_;
    const Locked lock;
    if (PyErr_CheckSignals() != 0) {
      raised_.emplace();
      stopped_ = true;
    } else if (!noted_.is_none()) {
      stopped_ = nanobind::cast<bool>(noted_.attr("pending"));
    }
    return stopped_;
  }
  /// Calls a Python function during the computation, with the interpreter's lock. If a signal
  /// handler raises SystemExit or the like within it, the computation ends as if pending() had
  /// found it.
  /// @throws nanobind::python_error an Exception, or what is raised after a first signal
  template <class Call>
  void call(const Call& function) {
    try {
      function();
    } catch (nanobind::python_error& error) {
      const bool first =
          !stopped_ && (noted_.is_none() || !nanobind::cast<bool>(noted_.attr("pending")));
      if (!first || std::this_thread::get_id() != caller_ || error.matches(PyExc_Exception)) throw;
      raised_.emplace(std::move(error));
      stopped_ = true;
    }
  }
  /// Raises that exception again, or KeyboardInterrupt, with a note for the user; SystemExit, which
  /// ends a thread silently, if the interpreter exits. Called with the interpreter's lock.
  /// @param note what was kept, and how to continue; may be null
  void raise_if_pending(const char* note = nullptr) {
    if (!stopped_) return;
    if (!raised_) {
      PyErr_SetNone(exits(caller_) ? PyExc_SystemExit : PyExc_KeyboardInterrupt);
      raised_.emplace();
    }
    if (note != nullptr) raised_->value().attr("add_note")(note);
    throw std::move(*raised_);
  }

 private:
  nanobind::object noted_;
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> stopped_ = false;
  std::optional<nanobind::python_error> raised_;
};

}  // namespace tarn::python
