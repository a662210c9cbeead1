#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda_check.hpp"

namespace tarn::bench {

/// Steps that are timed at a time: some 20 ms, which hide a launch and let clocks rise, whatever
/// the device and the system; on the tile path whole rows of graphs, from one kept state to the
/// next.
/// @param seconds_of_few what kFewSteps took, once everything was loaded
inline constexpr std::int64_t kFewSteps = 64, kMostTimes = 10'000;
inline std::int64_t steps_to_time(double seconds_of_few) {
  const double times = 0.02 / std::max(seconds_of_few, 1e-6);
  return kFewSteps * std::clamp(static_cast<std::int64_t>(times), std::int64_t{1}, kMostTimes);
}

/// Seconds between two events of a stream, by the clock of the device.
class GpuTimer {
 public:
  GpuTimer() {
    gpu::cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    gpu::cuda_check(cudaEventCreate(&begin_));
    gpu::cuda_check(cudaEventCreate(&end_));
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }

  cudaStream_t stream() const { return stream_; }
  /// What `work` puts on stream(), or does elsewhere and waits for: then its launches count too.
  template <class Work>
  double seconds(const Work& work) {
    gpu::cuda_check(cudaEventRecord(begin_, stream_));
    work();
    gpu::cuda_check(cudaEventRecord(end_, stream_));
    gpu::cuda_check(cudaEventSynchronize(end_));
    float milliseconds = 0.0f;
    gpu::cuda_check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace tarn::bench
