#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include <cuda_runtime.h>

#include "kernels/device_buffer.hpp"
#include "steps/step_parameters.hpp"

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

}  // namespace tarn::gpu
