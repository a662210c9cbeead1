#include "progress.hpp"

namespace tarn {

Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds) {
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
  return p;
}

Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds, double timestep_fs, std::int64_t replicas) {
  Progress p = progress_of(step, first_step, total_steps, elapsed_seconds);
  p.ns_per_day_per_replica = ns_per_day(p.steps_per_second, timestep_fs);
  p.ns_per_day_total = p.ns_per_day_per_replica * static_cast<double>(replicas);
  return p;
}

}  // namespace tarn
