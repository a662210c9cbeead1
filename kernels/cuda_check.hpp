#pragma once

#include <cuda_runtime.h>

#include <source_location>
#include <string>

#include "tarn/core/error.hpp"

namespace tarn::gpu {

/// @throws DeviceError with the words of the CUDA runtime and the place of the call
inline void cuda_check(cudaError_t error,
                       const std::source_location& place = std::source_location::current()) {
  if (error == cudaSuccess) return;
  std::string file = place.file_name();
  file = file.substr(file.rfind('/') + 1);
  throw DeviceError(std::string("CUDA: ") + cudaGetErrorString(error) + " (" + file + ":" +
                    std::to_string(place.line()) + ")");
}
/// After a launch: errors of its arguments at once; those of its running come with the next copy.
inline void check_launch(const std::source_location& place = std::source_location::current()) {
  cuda_check(cudaGetLastError(), place);
}

}  // namespace tarn::gpu
