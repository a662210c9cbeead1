#pragma once

#include <chrono>
#include <cstdint>

#include "tarn/run.hpp"

namespace tarn {

/// Simulated time per day of wall-clock time.
constexpr double ns_per_day(double steps_per_second, double timestep_fs) {
  return steps_per_second * timestep_fs * 1e-6 * 86400.0;
}

/// Speed so far, and time left at this speed.
/// @param first_step step at which this program started or resumed
/// @param replicas number of running replicas
Progress progress_of(std::int64_t step, std::int64_t first_step, std::int64_t total_steps,
                     double elapsed_seconds, double timestep_fs, std::int64_t replicas);

/// Chooses the number of steps per advance from the measured speed.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Number of steps that take about a quarter of a second; at least one, and at most twice the
  /// previous number, because timings of the first steps are unreliable.
  std::int64_t steps() const { return steps_; }
  /// Starts the clock again; needed only if something else happened since the last note().
  void begin() { last_note_ = Clock::now(); }
  /// Records the end of an advance of `steps`.
  void note(std::int64_t steps);
  /// Returns true about twice per second.
  bool is_time_to_report();

 private:
  static constexpr std::chrono::duration<double> kAdvance{0.25};
  static constexpr std::chrono::duration<double> kReport{0.5};

  std::int64_t steps_ = 1;
  Clock::time_point last_note_ = Clock::now();
  Clock::time_point last_report_ = Clock::now();
};

}  // namespace tarn
