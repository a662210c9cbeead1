#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/device_buffer.hpp"
#include "kernels/device_state.cuh"
#include "steps/step_parameters.hpp"
#include "tarn/engine.hpp"

namespace tarn::gpu {

/// Steps of the larger graph; the remaining ones are launched one by one. The last step before a
/// kept state is not part of a graph.
inline constexpr std::int64_t kStepsInGraph = 21;
static_assert((kKeptSteps - 1) % kStepsInGraph == 0);

/// The stream of an engine and, on the tile path, its graphs of one step and of several steps.
class StepStream {
 public:
  explicit StepStream(int device) {
    cuda_check(cudaSetDevice(device));
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  StepStream(const StepStream&) = delete;
  StepStream& operator=(const StepStream&) = delete;
  ~StepStream() {
    cudaStreamSynchronize(stream_);
    for (cudaGraphExec_t graph : {one_step_, steps_}) {
      if (graph != nullptr) cudaGraphExecDestroy(graph);
    }
    cudaStreamDestroy(stream_);
  }

  cudaStream_t stream() const { return stream_; }
  /// Captures the graphs. With CUDA_LAUNCH_BLOCKING=1 kernels are launched one by one instead,
  /// because an error of a graph does not name the kernel.
  /// @param step launches one step on stream()
  void capture(const std::function<void()>& step) {
    const char* const blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking != nullptr && std::string(blocking) == "1") {
      step_ = step;
      return;
    }
    one_step_ = captured(step);
    steps_ = captured([&] {
      for (std::int64_t k = 0; k < kStepsInGraph; ++k) step();
    });
  }
  /// Launches the captured steps.
  void replay(std::int64_t steps) {
    for (; step_ && steps > 0; --steps) step_();
    for (; steps >= kStepsInGraph; steps -= kStepsInGraph) {
      cuda_check(cudaGraphLaunch(steps_, stream_));
    }
    for (; steps > 0; --steps) cuda_check(cudaGraphLaunch(one_step_, stream_));
  }
  void wait() const { cuda_check(cudaStreamSynchronize(stream_)); }

 private:
  template <class Launches>
  cudaGraphExec_t captured(const Launches& launches) {
    cudaGraph_t graph = nullptr;
    cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    try {
      launches();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    cuda_check(cudaStreamEndCapture(stream_, &graph));
    cudaGraphExec_t ready = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(error);
    return ready;
  }

  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t one_step_ = nullptr, steps_ = nullptr;
  std::function<void()> step_;  ///< in place of the graphs
};

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
