#include "interleaved_runs.hpp"

#include <algorithm>
#include <cmath>

#include "run/progress.hpp"

namespace tarn {

std::int64_t run_interleaved(std::int64_t total_steps,
                             const std::function<void(std::int64_t step)>& advance_to,
                             const std::function<bool(std::int64_t step)>& on_report) {
  constexpr std::int64_t kMinSlices = 40;
  const std::int64_t longest = std::max<std::int64_t>(total_steps / kMinSlices, 1);
  Pace pace;
  std::int64_t done = 0;
  while (done < total_steps) {
    const std::int64_t steps = std::min({longest, pace.steps(), total_steps - done});
    advance_to(done + steps);
    done += steps;
    pace.note(steps);
    if (pace.is_time_to_report() && !on_report(done)) break;
  }
  return done;
}

std::int64_t proportional_step(std::int64_t run_steps, std::int64_t step,
                               std::int64_t total_steps) {
  if (run_steps == total_steps) return step;
  if (step == total_steps) return run_steps;
  const double part = static_cast<double>(step) / static_cast<double>(total_steps);
  return std::llround(part * static_cast<double>(run_steps));
}

}  // namespace tarn
