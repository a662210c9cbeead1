#pragma once

#include <chrono>
#include <cstdint>

namespace tarn::cpu {

/// Stages are timed at every step whose number is a multiple of this, and the times are scaled. The
/// stages of such a step are separate passes.
inline constexpr std::int64_t kTimedSteps = 32;

/// Measures the stages of a timed step.
class StageClock {
 public:
  explicit StageClock(bool on) : on_(on) {
    if (on_) last_ = std::chrono::steady_clock::now();
  }
  void add_to(double& seconds) {
    if (!on_) return;
    const auto now = std::chrono::steady_clock::now();
    seconds += kTimedSteps * std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  bool on_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace tarn::cpu
