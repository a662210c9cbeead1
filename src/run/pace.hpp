#pragma once

#include <chrono>
#include <cstdint>

namespace tarn {

/// How many steps to advance at once, from the speed seen so far.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Steps that take about a quarter of a second; at least one, and at most twice as many as last
  /// time, since the first ones may be slow or fast by accident.
  std::int64_t steps() const { return steps_; }
  /// Notes that an advance of `steps` has just ended.
  void note(std::int64_t steps);
  /// True about twice a second.
  bool is_time_to_report();

 private:
  static constexpr std::chrono::duration<double> kAdvance{0.25};
  static constexpr std::chrono::duration<double> kReport{0.5};

  std::int64_t steps_ = 1;
  Clock::time_point last_note_ = Clock::now();
  Clock::time_point last_report_ = Clock::now();
};

}  // namespace tarn
