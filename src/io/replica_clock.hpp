#pragma once

#include <cstdint>
#include <optional>

namespace tarn::io {

/// Steps and times of the frames of one replica: where they begin, how far they are apart, and
/// whether that stays so. What a frame does not tell is 0, and steps are 1 apart.
class ReplicaClock {
 public:
  /// Of the next frame; nothing where it does not tell.
  void add(std::optional<std::int64_t> step, std::optional<double> time_ps);

  std::int64_t frames() const { return frames_; }
  /// Whether all frames tell theirs.
  bool has_steps() const { return has_steps_; }
  bool has_times() const { return has_times_; }
  /// Of the first frame.
  std::int64_t first_step() const { return first_step_; }
  double first_ps() const { return first_ps_; }
  /// Between the first two frames. Steps that do not grow are taken as 1 apart.
  std::int64_t every() const { return every_; }
  double interval_ps() const { return interval_ps_; }
  /// Whether all frames are as far apart as the first two.
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

/// To what a step in single precision, that of DCD, holds.
bool times_agree(double a_ps, double b_ps);

}  // namespace tarn::io
