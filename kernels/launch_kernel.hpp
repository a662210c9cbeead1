#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include "kernels/cuda_check.hpp"

/// @file
/// The only place with the triple brackets of CUDA: what is left is plain C++, which the tests also
/// run on a CPU that stands in for a GPU (tests/emulated).

#if defined(__CUDACC__)
#define TARN_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#else
#define TARN_DYNAMIC_SHARED(name) unsigned char* const name = emulated::dynamic_shared.data()
#endif

namespace tarn::gpu {

#if !defined(__CUDACC__)
inline void sync_row() {
  const dim3 threads = blockDim;
  emulated::wait_for_some(threadIdx.y * threads.x, threads.x);
}
inline void wait_for_previous_kernel() {}
inline void launch_dependents() {}
inline long long load_relaxed(const long long& number) {
  return std::atomic_ref(const_cast<long long&>(number)).load(std::memory_order_relaxed);
}
#else
/// A barrier of the threads with the same threadIdx.y, which are whole warps; there are 15 at most.
__device__ inline void sync_row() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
}
/// A number that others may lower by atomicMin meanwhile.
__device__ inline long long load_relaxed(const long long& number) { return number; }
/// First in a kernel of launch_early(): waits until those before are done and what they wrote is
/// seen.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// When all blocks of a kernel have come here or ended, the next one, if it is one of
/// launch_early(), may be launched: its blocks wait where there is room.
__device__ inline void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif

/// A stream, and the place where it is named: that of the launch.
struct LaunchStream {
  cudaStream_t stream;
  const char* file;
  int line;

  LaunchStream(cudaStream_t on, const char* file_name = __builtin_FILE(),
               int at_line = __builtin_LINE())
      : stream(on), file(file_name), line(at_line) {}
};

/// Launches a kernel. @throws DeviceError for what is wrong with the launch itself, with its place
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), const dim3& grid, const dim3& threads,
                   std::size_t shared_bytes, const LaunchStream& on,
                   const Arguments&... arguments) {
#if defined(__CUDACC__)
  kernel<<<grid, threads, shared_bytes, on.stream>>>(static_cast<Parameters>(arguments)...);
#else
  emulated::launch(on.stream, reinterpret_cast<const void*>(kernel), [=] {
    emulated::run_grid(grid, threads, shared_bytes,
                       [&] { kernel(static_cast<Parameters>(arguments)...); });
  });
#endif
  cuda_check(cudaGetLastError(), on.file, on.line);
}

/// Launches a kernel that calls wait_for_previous_kernel() first.
/// @param early it may be launched before the one before it in the stream has ended
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
#endif
  launch_kernel(kernel, grid, threads, shared_bytes, on, arguments...);
}

/// Brings a kernel onto the device, as its first launch would do. Drivers before that of CUDA 12.3
/// cannot do it while a stream is captured.
/// @return what is known of it there
template <class... Parameters>
cudaFuncAttributes load_kernel(void (*kernel)(Parameters...), const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel), file, line);
  return attributes;
}

}  // namespace tarn::gpu
