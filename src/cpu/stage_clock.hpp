#pragma once

#include <chrono>
#include <cstdint>

namespace tarn::cpu {

/// Stage times are taken at every step whose number is a multiple of this, and scaled. The stages
/// of such a step are passes of their own.
inline constexpr std::int64_t kTimedSteps = 32;

/// Tells how long each stage of such a step takes.
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
