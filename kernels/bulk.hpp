#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include "kernels/bulk_calls.hpp"
#include "kernels/device_buffer.hpp"

/// @file
/// Work on device memory that is not physics, by Thrust. It is ordered with the other work of a
/// stream.

namespace tarn::gpu {

/// Returns call(); errors of Thrust become a DeviceError.
template <class Call>
auto with_device_errors(const Call& call) {
  try {
    return call();
  } catch (const bulk::NoMemory& error) {
    throw_no_memory(error.bytes);
  } catch (const std::runtime_error& error) {
    throw DeviceError(std::string("CUDA: ") + error.what());
  }
}

/// Calls a function of bulk_calls.hpp with the stream as first argument.
template <class Call, class... Arguments>
void enqueue(cudaStream_t stream, Call call, Arguments... arguments) {
#if defined(__CUDACC__)
  with_device_errors([&] { call(stream, arguments...); });
  cuda_check(cudaGetLastError());
#else
  emulated::put(stream, [=] { call(nullptr, arguments...); });
#endif
}

template <class T>
void fill(T* data, std::size_t size, T value, cudaStream_t stream) {
  if (size > 0) enqueue(stream, bulk::fill<T>, data, size, value);
}

/// Copies numbers of molecules from the order of State into slots.
/// @param from [replica][molecule][number]
/// @param to [number][slot]
inline void copy_to_slots(const double* from, const bulk::Slots& slots, double* to,
                          cudaStream_t stream) {
  if (slots.slots > 0) enqueue(stream, bulk::copy_to_slots, from, slots, to);
}

/// Steps of all replicas: up to `step`, or up to the step at which a replica was stopped.
inline std::int64_t replica_steps(const int* stopped, const long long* stopped_at,
                                  std::int64_t replicas, std::int64_t first_step, std::int64_t step,
                                  cudaStream_t stream) {
  cuda_check(cudaStreamSynchronize(stream));
  return with_device_errors(
      [&] { return bulk::replica_steps(stream, stopped, stopped_at, replicas, first_step, step); });
}

/// Removes the numbers i from a list whose flags[i stride] are not 0. @return the new length
inline std::int64_t keep_zeros(std::int64_t* list, std::int64_t length, const double* flags,
                               std::int64_t stride, cudaStream_t stream) {
  cuda_check(cudaStreamSynchronize(stream));
  return with_device_errors([&] { return bulk::keep_zeros(stream, list, length, flags, stride); });
}

}  // namespace tarn::gpu
