#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/device_buffer.hpp"

/// @file
/// The only file with CUDA's launch syntax. All other device code compiles as plain C++, which the
/// tests run on an emulated GPU (tests/emulated).

/// Shared memory of a block: `TARN_SHARED(name, type)`, and bytes whose number the launch sets.
#if defined(__CUDACC__)
#define TARN_SHARED(name, ...) __shared__ std::type_identity_t<__VA_ARGS__> name
#define TARN_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#else
#define TARN_SHARED(name, ...) auto& name = emulated::shared<__VA_ARGS__>([] {})
#define TARN_DYNAMIC_SHARED(name) unsigned char* const name = emulated::dynamic_shared()
#endif

namespace tarn::gpu {

#if !defined(__CUDACC__)
inline void sync_row() {
  const dim3 threads = blockDim;
  emulated::wait_for_some(threadIdx.y * threads.x, threads.x);
}
using emulated::launch_dependents;
using emulated::wait_for_previous_kernel;
inline long long load_relaxed(const long long& number) {
  return std::atomic_ref(const_cast<long long&>(number)).load(std::memory_order_relaxed);
}
#else
/// A barrier of the threads with the same threadIdx.y, which must be whole warps; at most 15 rows.
__device__ inline void sync_row() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
}
/// Reads a number that other threads may lower by atomicMin at the same time.
__device__ inline long long load_relaxed(const long long& number) {
  long long value;
  asm volatile("ld.relaxed.gpu.s64 %0, [%1];" : "=l"(value) : "l"(&number) : "memory");
  return value;
}
/// The first call of a kernel for launch_early(): waits until the preceding kernels have ended and
/// their writes are visible.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Allows the next kernel to be launched, if it is a kernel of launch_early(), as soon as all
/// blocks of this one have called it or ended.
__device__ inline void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif

/// A stream and the source location of the launch.
struct LaunchStream {
  cudaStream_t stream;
  const char* file;
  int line;

  LaunchStream(cudaStream_t on, const char* file_name = __builtin_FILE(),
               int at_line = __builtin_LINE())
      : stream(on), file(file_name), line(at_line) {}
};

/// Launches a kernel. @throws DeviceError with the source location if the launch fails
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), const dim3& grid, const dim3& threads,
                   std::size_t shared_bytes, const LaunchStream& on,
                   const Arguments&... arguments) {
#if defined(__CUDACC__)
  kernel<<<grid, threads, shared_bytes, on.stream>>>(static_cast<Parameters>(arguments)...);
#else
  emulated::launch(on.stream, reinterpret_cast<const void*>(kernel), grid, threads, shared_bytes,
                   [=] { kernel(static_cast<Parameters>(arguments)...); });
#endif
  cuda_check(cudaGetLastError(), on.file, on.line);
}

/// Launches a kernel with at least `count` threads, in blocks of `threads`.
template <class... Parameters, class... Arguments>
void launch_threads(void (*kernel)(Parameters...), std::int64_t count, int threads,
                    const LaunchStream& on, const Arguments&... arguments) {
  launch_kernel(kernel, static_cast<unsigned>((count + threads - 1) / threads), threads, 0, on,
                arguments...);
}
/// The number of the thread in such a launch.
__device__ inline std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Launches a kernel that calls wait_for_previous_kernel() first.
/// @param early whether it may be launched before the preceding kernel of the stream has ended
template <class... Parameters, class... Arguments>
void launch_early([[maybe_unused]] bool early, void (*kernel)(Parameters...), const dim3& grid,
                  const dim3& threads, std::size_t shared_bytes, const LaunchStream& on,
                  const Arguments&... arguments) {
#if defined(__CUDACC__) && CUDART_VERSION >= 12030
  if (early) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = on.stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cuda_check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), on.file,
               on.line);
    return;
  }
#elif !defined(__CUDACC__)
  emulated::next_launch_is_early = early;
#endif
  launch_kernel(kernel, grid, threads, shared_bytes, on, arguments...);
}

/// Loads a kernel onto the device, as its first launch would. Drivers older than CUDA 12.3 cannot
/// do this during stream capture.
/// @return its attributes
template <class... Parameters>
cudaFuncAttributes load_kernel(void (*kernel)(Parameters...), const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel), file, line);
  return attributes;
}

/// Before the launch of a kernel that may need more than the usual 48 kB of shared memory.
template <class... Parameters>
void allow_shared_bytes(void (*kernel)(Parameters...), std::size_t bytes) {
  if (bytes <= 48 * 1024) return;
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}

}  // namespace tarn::gpu
