#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/device_buffer.hpp"
#include "kernels/device_state.cuh"
#include "tarn/engine.hpp"

namespace tarn::gpu {

/// Times of the stages of steps that consist of several kernels, by events between the kernels.
class StageTimes {
 public:
  StageTimes() = default;
  StageTimes(const StageTimes&) = delete;
  StageTimes& operator=(const StageTimes&) = delete;
  ~StageTimes() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  /// Marks the start of a step. Only the last marked step before take() counts.
  void begin(cudaStream_t stream) {
    stages_.clear();
    record(stream);
  }
  /// Marks the end of a stage, which began at the previous mark.
  void end(Stage stage, cudaStream_t stream) {
    stages_.push_back(stage);
    record(stream);
  }
  /// Adds the times of the marked step, which must have ended, for a number of steps like it.
  void take(std::int64_t steps) {
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      float milliseconds = 0.0f;
      cuda_check(cudaEventElapsedTime(&milliseconds, events_[k], events_[k + 1]));
      seconds_[static_cast<std::size_t>(stages_[k])] +=
          1e-3 * static_cast<double>(milliseconds) * static_cast<double>(steps);
    }
    stages_.clear();
  }
  const std::array<double, kStages>& seconds() const { return seconds_; }

 private:
  void record(cudaStream_t stream) {
    if (events_.size() == stages_.size()) cuda_check(cudaEventCreate(&events_.emplace_back()));
    cuda_check(cudaEventRecord(events_[stages_.size()], stream));
  }

  std::vector<cudaEvent_t> events_;
  std::vector<Stage> stages_;  ///< those that ended since begin()
  std::array<double, kStages> seconds_{};
};

/// Divides the time of all steps among the stages in proportion to weights; without weights all of
/// it is `rest`.
inline void divide_time(double seconds, const std::array<double, kStages>& weights,
                        EngineReport& report) {
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  const auto share = [&](Stage stage) {
    return sum > 0.0 ? seconds * weights[static_cast<std::size_t>(stage)] / sum : 0.0;
  };
  report.pair_seconds = share(Stage::pairs);
  report.bond_seconds = share(Stage::bonds);
  report.noise_seconds = share(Stage::noise);
  report.rest_seconds = sum > 0.0 ? share(Stage::rest) : seconds;
}

}  // namespace tarn::gpu
