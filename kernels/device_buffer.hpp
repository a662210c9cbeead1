#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "kernels/cuda_check.hpp"

namespace tarn::gpu {

/// @throws DeviceError that says how much there is
[[noreturn]] inline void throw_no_memory(std::size_t bytes) {
  cudaGetLastError();  // forget it
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  const auto MiB = [](std::size_t size) { return std::to_string((size >> 20) + 1) + " MiB"; };
  throw DeviceError("CUDA: too little memory on the GPU: " + MiB(bytes) + " more are needed, and " +
                    MiB(free) + " of " + MiB(total) +
                    " are free; take fewer replicas, or see in nvidia-smi what has the rest");
}

/// Memory on the current device that its owner frees; move-only.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// @throws DeviceError when there is not enough memory
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    const cudaError_t error = cudaMalloc(&data_, size * sizeof(T));
    if (error == cudaErrorMemoryAllocation) throw_no_memory(size * sizeof(T));
    cuda_check(error);
  }
  DeviceBuffer(std::size_t size, int byte) : DeviceBuffer(size) {
    if (size > 0) cuda_check(cudaMemset(data_, byte, size * sizeof(T)));
  }
  explicit DeviceBuffer(std::span<const T> values) : DeviceBuffer(values.size()) {
    if (size_ > 0) {
      cuda_check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(data_); }

  T* get() const { return data_; }
  std::size_t size() const { return size_; }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ > 0) {
      cuda_check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    }
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A copy on the host, in page-locked memory where there is some, which the device writes without a
/// detour. Made when it is first taken; what is taken often finds its place ready.
template <class T>
class HostCopy {
 public:
  HostCopy() = default;
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;
  ~HostCopy() { release(); }

  /// Begins to copy. The numbers are there when the stream was waited for.
  void copy_from(const DeviceBuffer<T>& from, cudaStream_t stream) {
    if (size_ != from.size()) reserve(from.size());
    if (size_ == 0) return;
    cuda_check(
        cudaMemcpyAsync(data_, from.get(), size_ * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }
  std::span<const T> values() const { return {data_, size_}; }

 private:
  /// cudaFreeHost() does not say what it does with a null pointer.
  void release() {
    if (data_ != nullptr && pageable_.empty()) cudaFreeHost(data_);
    data_ = nullptr;
    pageable_.clear();
  }
  void reserve(std::size_t size) {
    release();
    size_ = size;
    if (size == 0 || cudaMallocHost(&data_, size * sizeof(T)) == cudaSuccess) return;
    cudaGetLastError();  // forget it
    pageable_.resize(size);
    data_ = pageable_.data();
  }

  T* data_ = nullptr;          // page-locked, or of pageable_
  std::vector<T> pageable_{};  // empty where there was page-locked memory
  std::size_t size_ = 0;
};

/// Waits for copies and fills, which have no order with the streams of engines. Not for the whole
/// device: another thread's engine may be at work there, or capture a graph, which that would
/// spoil.
inline void wait_for_copies() { cuda_check(cudaStreamSynchronize(nullptr)); }

}  // namespace tarn::gpu
