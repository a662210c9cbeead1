#pragma once

#include <cuda_runtime.h>

#include <string>

#include "tarn/core/error.hpp"

namespace tarn::gpu {

/// @throws DeviceError with the words of the CUDA runtime and the place of the call
inline void cuda_check(cudaError_t error, const char* file_name = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // forget it: the next engine must not stumble over it
  std::string file = file_name;
  file = file.substr(file.rfind('/') + 1);
  throw DeviceError(std::string("CUDA: ") + cudaGetErrorString(error) + " (" + file + ":" +
                    std::to_string(line) + ")");
}

}  // namespace tarn::gpu
