#include "pace.hpp"

#include <algorithm>

namespace tarn {

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
