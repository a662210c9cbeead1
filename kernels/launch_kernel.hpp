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

/// Brings a kernel onto the device, as its first launch would do. Drivers before that of CUDA 12.3
/// cannot do it while a stream is captured.
template <class... Parameters>
void load_kernel(void (*kernel)(Parameters...), const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, kernel), file, line);
}

}  // namespace tarn::gpu
