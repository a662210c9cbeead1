#pragma once

#include <string>

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

}  // namespace tarn::gpu
