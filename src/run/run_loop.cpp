#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "progress.hpp"
#include "tarn/core/error.hpp"
#include "tarn/run.hpp"

namespace tarn {
namespace {

using Observers = std::vector<std::unique_ptr<Observer>>;

std::int64_t interval_of(const Observer& observer) {
  const std::int64_t every = observer.every();
  if (every >= 1) return every;
  throw InputError(fmt::format("the observer '{}' returned every() = {}; it must be at least 1",
                               observer.name(), every));
}

/// The first step after `step` at which an observer is due, or `last_step`.
std::int64_t next_due_step(const Observers& observers, std::int64_t step, std::int64_t last_step) {
  std::int64_t due = last_step;
  for (const auto& observer : observers) {
    const std::int64_t every = interval_of(*observer);
    due = std::min(due, (step / every + 1) * every);
  }
  return due;
}

/// Observers of the engine's step, and the fields that they need.
struct DueObservers {
  std::vector<Observer*> now, late;  ///< late: during later steps
  unsigned fields = kNoFields;
};
DueObservers due_observers(const Observers& observers, std::int64_t step) {
  std::vector<Observer*> all;
  for (const auto& observer : observers) {
    if (step % interval_of(*observer) == 0) all.push_back(observer.get());
  }
  DueObservers due;
  // One that reads the others must find their states of this step.
  const bool may_lag =
      std::none_of(all.begin(), all.end(), [](const Observer* o) { return o->reads_observers(); });
  for (Observer* observer : all) {
    (may_lag && observer->may_lag() ? due.late : due.now).push_back(observer);
    due.fields |= observer->fields();
  }
  return due;
}

/// Takes frames and passes them to the observers, if possible while the engine computes later
/// steps.
class FramesForObservers {
 public:
  FramesForObservers(Engine& engine, const Observers& observers)
      : engine_(engine), observers_(observers) {}

  /// Takes the frame of the current step. finish() must have been called for the previous one.
  void take() {
    DueObservers due = due_observers(observers_, engine_.step());
    if (due.now.empty() && due.late.empty()) return engine_.wait();
    late_ = std::move(due.late);
    is_started_ = due.now.empty() && engine_.begin_snapshot(due.fields);
    if (is_started_) return;
    engine_.wait();
    engine_.snapshot(due.fields, frame_);
    pass_to(due.now);
  }
  /// Passes the last frame to the observers that have not received it.
  void finish() {
    if (late_.empty()) return;
    if (is_started_) engine_.finish_snapshot(frame_);
    const std::vector<Observer*> observers = std::move(late_);
    late_.clear();
    pass_to(observers);
  }

 private:
  void pass_to(const std::vector<Observer*>& observers) {
    for (Observer* observer : observers) observer->observe(frame_);
  }

  Engine& engine_;
  const Observers& observers_;
  Frame frame_;
  std::vector<Observer*> late_;
  bool is_started_ = false;  ///< the engine has the frame
};

/// Passes the sums of the engine to the observers that use them.
void catch_up(Engine& engine, const Observers& observers) {
  unsigned fields = kNoFields;
  for (const auto& observer : observers) fields |= observer->accumulated();
  if (fields == kNoFields) return;
  Frame frame;
  engine.snapshot(fields, frame);
  for (const auto& observer : observers) {
    if (observer->accumulated() != kNoFields) observer->catch_up(frame);
  }
}

}  // namespace

void run_loop(Engine& engine, const Observers& observers, std::int64_t last_step,
              bool observe_first_step, const std::function<bool(std::int64_t step)>& between,
              const std::function<void()>& on_failed_advance) {
  MeasureSettings settings;
  for (const auto& observer : observers) observer->configure(settings);
  engine.measure_with(settings);
  for (const auto& observer : observers) observer->keep_in(engine);
  Pace pace;
  // Also after an exception of an observer.
  const std::unique_ptr<Engine, void (*)(Engine*)> wait_at_the_end(&engine, [](Engine* e) {
    try {
      e->wait();
    } catch (...) {  // the first exception counts
    }
  });
  FramesForObservers frames(engine, observers);
  if (observe_first_step) frames.take();
  while (engine.step() < last_step) {
    const std::int64_t due = next_due_step(observers, engine.step(), last_step);
    const std::int64_t steps = std::min(due - engine.step(), pace.steps());
    try {
      engine.begin_advance(steps);
    } catch (...) {
      frames.finish();
      if (on_failed_advance) on_failed_advance();
      throw;
    }
    frames.finish();
    if (engine.step() == due) {
      frames.take();
    } else {
      engine.wait();
    }
    pace.note(steps);
    if (!pace.is_time_to_report()) continue;
    frames.finish();
    engine.wait();
    if (!between(engine.step())) break;
  }
  frames.finish();
  engine.wait();
  catch_up(engine, observers);
}

Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds, double timestep_fs, std::int64_t replicas) {
  Progress p;
  p.step = step;
  p.total_steps = total_steps;
  p.elapsed_seconds = elapsed_seconds;
  if (elapsed_seconds > 0.0) {
    p.steps_per_second = static_cast<double>(step - first_step) / elapsed_seconds;
  }
  if (p.steps_per_second > 0.0) {
    p.seconds_left = static_cast<double>(total_steps - step) / p.steps_per_second;
  }
  p.ns_per_day_per_replica = ns_per_day(p.steps_per_second, timestep_fs);
  p.ns_per_day_total = p.ns_per_day_per_replica * static_cast<double>(replicas);
  return p;
}

void Pace::note(std::int64_t steps) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_note_).count();
  last_note_ = now;
  const double wanted = kAdvance.count() * static_cast<double>(steps) / std::max(seconds, 1e-9);
  const double most = 2.0 * static_cast<double>(std::max(steps_, steps));
  steps_ = static_cast<std::int64_t>(std::clamp(wanted, 1.0, std::min(most, 1e15)));
}

bool Pace::is_time_to_report() {
  const Clock::time_point now = Clock::now();
  if (now - last_report_ < kReport) return false;
  last_report_ = now;
  return true;
}

}  // namespace tarn
