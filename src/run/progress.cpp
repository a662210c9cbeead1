#include "progress.hpp"

#include <algorithm>

namespace tarn {

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
