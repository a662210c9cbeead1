#include "replica_clock.hpp"

#include <algorithm>
#include <cmath>

namespace tarn::io {

void ReplicaClock::add(std::optional<std::int64_t> step, std::optional<double> time_ps) {
  has_steps_ = has_steps_ && step;
  has_times_ = has_times_ && time_ps;
  if (has_steps_) add_step(*step);
  if (has_times_) add_time(*time_ps);
  ++frames_;
}

void ReplicaClock::add_step(std::int64_t step) {
  if (frames_ == 0) first_step_ = last_step_ = step;
  if (frames_ == 1) every_ = std::max<std::int64_t>(step - first_step_, 1);
  if (frames_ > 0 && step - last_step_ != every_) even_steps_ = false;
  last_step_ = step;
  largest_step_ = std::max(largest_step_, step);
}

void ReplicaClock::add_time(double time_ps) {
  if (frames_ == 0) first_ps_ = time_ps;
  if (frames_ == 1) interval_ps_ = time_ps - first_ps_;
  if (!times_agree(time_ps, first_ps_ + static_cast<double>(frames_) * interval_ps_)) {
    even_times_ = false;
  }
}

bool times_agree(double a_ps, double b_ps) {
  constexpr double kSame = 1e-6;
  return std::abs(a_ps - b_ps) <= kSame * (1.0 + std::abs(b_ps));
}

}  // namespace tarn::io
