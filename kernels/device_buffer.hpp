#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "tarn/core/error.hpp"

namespace tarn::gpu {

/// Advice that is appended to the message of an error; may be empty.
inline std::string cuda_advice(cudaError_t error) {
  switch (error) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return "; this build has no code for this GPU: configure with "
             "-DCMAKE_CUDA_ARCHITECTURES=native, or with -DTARN_CUDA_RELEASE_ARCHS=ON";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      return "; set CUDA_LAUNCH_BLOCKING=1 to see which kernel failed";
    case cudaErrorInitializationError:
      return "; CUDA fails in a forked process if the parent used it: start processes with 'spawn'";
    default:
      return {};
  }
}

/// @throws DeviceError with the message of the CUDA runtime and the location of the call
inline void cuda_check(cudaError_t error, const char* file_name = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clear it: a later call must not report it
  std::string file = file_name;
  file = file.substr(file.rfind('/') + 1);
  throw DeviceError(std::string("CUDA: ") + cudaGetErrorString(error) + " (" + file + ":" +
                    std::to_string(line) + ")" + cuda_advice(error));
}

/// @throws DeviceError with the amounts of needed, free and total memory
[[noreturn]] inline void throw_no_memory(std::size_t bytes) {
  cudaGetLastError();  // clear it
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total));
  const auto MiB = [](std::size_t size) { return std::to_string((size >> 20) + 1) + " MiB"; };
  throw DeviceError("CUDA: not enough memory on the GPU: " + MiB(bytes) + " more are needed, " +
                    MiB(free) + " of " + MiB(total) +
                    " are free; use fewer replicas, or see in nvidia-smi what occupies the rest");
}

/// Copies an array to the host.
template <class T>
std::vector<T> downloaded(const T* data, std::size_t size) {
  std::vector<T> values(size);
  if (size > 0) {
    cuda_check(cudaMemcpy(values.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost));
  }
  return values;
}

/// Owns memory on the current device; move-only.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// @throws DeviceError if there is not enough memory
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

  /// Makes room for so many numbers; the previous ones may be lost.
  void reserve(std::size_t size) {
    if (size_ < size) *this = DeviceBuffer(size);
  }
  T* get() const { return data_; }
  std::size_t size() const { return size_; }
  std::vector<T> download() const { return downloaded(data_, size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Owns arrays of several types on the current device; move-only.
class DeviceArrays {
 public:
  DeviceArrays() = default;
  DeviceArrays(DeviceArrays&&) = default;
  DeviceArrays& operator=(DeviceArrays&&) = default;

  template <class T>
  T* keep(DeviceBuffer<T> buffer) {
    T* const data = buffer.get();
    arrays_.push_back(std::make_shared<DeviceBuffer<T>>(std::move(buffer)));
    return data;
  }
  /// Not initialised.
  template <class T>
  T* make(std::size_t size) {
    return keep(DeviceBuffer<T>(size));
  }
  template <class T>
  T* make(std::size_t size, int byte) {
    return keep(DeviceBuffer<T>(size, byte));
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    return keep(DeviceBuffer<T>(values));
  }

 private:
  std::vector<std::shared_ptr<void>> arrays_;
};

/// A host copy of device memory, page-locked if possible: the device accesses it directly. It is
/// allocated by the first copy and reused by later ones that are not larger.
template <class T>
class HostCopy {
 public:
  HostCopy() = default;
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;
  ~HostCopy() { release(); }

  /// Starts an asynchronous copy. values() are valid after the stream has been synchronised.
  void copy_from(const T* from, std::size_t size, cudaStream_t stream) {
    if (capacity_ < size) reserve(size);
    size_ = size;
    if (size_ == 0) return;
    cuda_check(cudaMemcpyAsync(data_, from, size_ * sizeof(T), cudaMemcpyDeviceToHost, stream));
  }
  /// Starts an asynchronous copy of values to the device. The last copy must have ended.
  void copy_to(T* to, std::span<const T> values, cudaStream_t stream) {
    if (capacity_ < values.size()) reserve(values.size());
    size_ = values.size();
    std::copy(values.begin(), values.end(), data_);
    cuda_check(cudaMemcpyAsync(to, data_, size_ * sizeof(T), cudaMemcpyHostToDevice, stream));
  }
  std::span<const T> values() const { return {data_, size_}; }

 private:
  /// The behaviour of cudaFreeHost() for a null pointer is not documented.
  void release() {
    if (data_ != nullptr && pageable_.empty()) cudaFreeHost(data_);
    data_ = nullptr;
    pageable_.clear();
  }
  void reserve(std::size_t size) {
    release();
    capacity_ = size;
    if (cudaMallocHost(&data_, size * sizeof(T)) == cudaSuccess) return;
    cudaGetLastError();  // clear it
    pageable_.resize(size);
    data_ = pageable_.data();
  }

  T* data_ = nullptr;          // page-locked, or the data of pageable_
  std::vector<T> pageable_{};  // empty if data_ is page-locked
  std::size_t size_ = 0, capacity_ = 0;
};

/// A second stream, which copies results to the host while later steps run.
class CopyStream {
 public:
  explicit CopyStream(int device) {
    cuda_check(cudaSetDevice(device));
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&made_, &copied_}) {
      cuda_check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
  }
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;
  ~CopyStream() {
    cudaStreamSynchronize(stream_);
    for (cudaEvent_t event : {made_, copied_}) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
  }

  /// Starts a copy of what the stream of the steps has been told to make.
  template <class T>
  void copy(const T* from, std::size_t size, HostCopy<T>& to, cudaStream_t steps) {
    cuda_check(cudaEventRecord(made_, steps));
    cuda_check(cudaStreamWaitEvent(stream_, made_, 0));
    to.copy_from(from, size, stream_);
    cuda_check(cudaEventRecord(copied_, stream_));
  }
  /// Waits for the last copy, or lets the stream of the steps wait for it.
  void wait() const { cuda_check(cudaEventSynchronize(copied_)); }
  void hold(cudaStream_t steps) const { cuda_check(cudaStreamWaitEvent(steps, copied_, 0)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t made_ = nullptr, copied_ = nullptr;
};

/// Waits for copies and fills, which are not ordered with the streams of engines. It does not
/// synchronise the whole device: that would fail while another thread's engine captures a graph.
inline void wait_for_copies() { cuda_check(cudaStreamSynchronize(nullptr)); }

}  // namespace tarn::gpu
