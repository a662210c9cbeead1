#pragma once

#include <chrono>
#include <cstdint>

namespace tarn {

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
