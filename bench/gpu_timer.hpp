#pragma once

#include "kernels/device_buffer.hpp"

namespace tarn::gpu {

/// Measures seconds between two events of a stream, on the clock of the device.
class GpuTimer {
 public:
  GpuTimer() {
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    cuda_check(cudaEventCreate(&begin_));
    cuda_check(cudaEventCreate(&end_));
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;
  ~GpuTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }

  cudaStream_t stream() const { return stream_; }
  /// Time of the work that `work` enqueues on stream(). If it uses another stream and synchronises,
  /// the time includes its launches.
  template <class Work>
  double seconds(const Work& work) {
    cuda_check(cudaEventRecord(begin_, stream_));
    work();
    cuda_check(cudaEventRecord(end_, stream_));
    cuda_check(cudaEventSynchronize(end_));
    float milliseconds = 0.0f;
    cuda_check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace tarn::gpu
