#include "turns.hpp"

#include <algorithm>
#include <cmath>

#include "run/pace.hpp"

namespace tarn {

std::int64_t run_in_turns(std::int64_t total_steps,
                          const std::function<void(std::int64_t step)>& advance_to,
                          const std::function<bool(std::int64_t step)>& between) {
  constexpr std::int64_t kTurns = 40;
  const std::int64_t longest = std::max<std::int64_t>(total_steps / kTurns, 1);
  Pace pace;
  std::int64_t done = 0;
  while (done < total_steps) {
    const std::int64_t steps = std::min({longest, pace.steps(), total_steps - done});
    advance_to(done + steps);
    done += steps;
    pace.note(steps);
    if (pace.is_time_to_report() && !between(done)) break;
  }
  return done;
}

std::int64_t own_part(std::int64_t own_steps, std::int64_t steps, std::int64_t total_steps) {
  if (own_steps == total_steps) return steps;
  if (steps == total_steps) return own_steps;
  const double part = static_cast<double>(steps) / static_cast<double>(total_steps);
  return std::llround(part * static_cast<double>(own_steps));
}

}  // namespace tarn
