#include <algorithm>

#include <fmt/format.h>

#include "pace.hpp"
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

/// One Frame with the fields of all due observers, then those observers.
void observe_due(Engine& engine, const Observers& observers) {
  unsigned fields = kNoFields;
  std::vector<Observer*> due;
  for (const auto& observer : observers) {
    if (engine.step() % interval_of(*observer) != 0) continue;
    due.push_back(observer.get());
    fields |= observer->fields();
  }
  if (due.empty()) return;
  Frame frame;
  engine.snapshot(fields, frame);
  for (Observer* observer : due) observer->observe(frame);
}

void catch_up(Engine& engine, const Observers& observers) {
  Frame frame;
  for (const auto& observer : observers) {
    if (!(observer->fields() & kPairCounts)) continue;
    if (frame.pair_counts.empty()) engine.snapshot(kPairCounts, frame);
    observer->catch_up(frame);
  }
}

}  // namespace

void run_loop(Engine& engine, const Observers& observers, std::int64_t last_step,
              bool observe_first_step, const std::function<bool(std::int64_t step)>& between) {
  Pace pace;
  if (observe_first_step) observe_due(engine, observers);
  while (engine.step() < last_step) {
    const std::int64_t due = next_due_step(observers, engine.step(), last_step);
    const std::int64_t steps = std::min(due - engine.step(), pace.steps());
    engine.advance(steps);
    pace.note(steps);
    if (engine.step() == due) observe_due(engine, observers);
    if (pace.is_time_to_report() && !between(engine.step())) break;
  }
  catch_up(engine, observers);
}

}  // namespace tarn
