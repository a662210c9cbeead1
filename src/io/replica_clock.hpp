#pragma once

#include <cstdint>
#include <optional>

namespace tarn::io {

/// Steps and times of the frames of one replica: the first one, the interval, and whether the
/// interval is constant. Without steps or times in the frames the first one is 0, and the step
/// interval is 1.
class ReplicaClock {
 public:
  /// Adds the next frame; nothing for a step or time that it does not give.
  void add(std::optional<std::int64_t> step, std::optional<double> time_ps);

  std::int64_t frames() const { return frames_; }
  /// Whether all frames give their step or time.
  bool has_steps() const { return has_steps_; }
  bool has_times() const { return has_times_; }
  /// Of the first frame.
  std::int64_t first_step() const { return first_step_; }
  double first_ps() const { return first_ps_; }
  /// Interval between the first two frames; 1 if steps do not increase.
  std::int64_t every() const { return every_; }
  double interval_ps() const { return interval_ps_; }
  /// Whether all intervals equal that of the first two frames.
  bool has_even_steps() const { return even_steps_; }
  bool has_even_times() const { return even_times_; }
  std::int64_t largest_step() const { return largest_step_; }

 private:
  void add_step(std::int64_t step);
  void add_time(double time_ps);

  std::int64_t frames_ = 0;
  bool has_steps_ = true, has_times_ = true, even_steps_ = true, even_times_ = true;
  std::int64_t first_step_ = 0, every_ = 1, last_step_ = 0, largest_step_ = 0;
  double first_ps_ = 0.0, interval_ps_ = 0.0;
};

/// Whether times agree within the precision of a single-precision timestep, as in DCD.
bool times_agree(double a_ps, double b_ps);

}  // namespace tarn::io
