#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

namespace tarn::cpu {

/// Stages are timed at every step whose number is a multiple of this, and the times are scaled. The
/// stages of such a step are separate passes.
inline constexpr std::int64_t kTimedSteps = 64;

/// Measures the stages of a timed step.
class StageClock {
 public:
  explicit StageClock(bool on = false) : on_(on) {
    if (on_) last_ = std::chrono::steady_clock::now();
  }
  bool is_on() const { return on_; }
  /// Time since the last stage, scaled; 0 if the step is not timed.
  double take() {
    if (!on_) return 0.0;
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return kTimedSteps * std::chrono::duration<double>(last_ - before).count();
  }
  void add_to(double& seconds) { seconds += take(); }

 private:
  bool on_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tarn::cpu
