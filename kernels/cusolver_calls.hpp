#pragma once

#include <string>

#include <cusolverDn.h>

#include "tarn/core/error.hpp"

/// @file
/// The cuSOLVER functions that tarn calls. The library is loaded at first use because it is large
/// and optional.

namespace tarn::gpu {

struct CusolverCalls {
  decltype(&cusolverDnCreate) create;
  decltype(&cusolverDnDestroy) destroy;
  decltype(&cusolverDnSetStream) set_stream;
  decltype(&cusolverDnDpotrfBatched) factorise_batched;
  decltype(&cusolverDnDpotrsBatched) solve_batched;
  decltype(&cusolverDnDpotrf_bufferSize) buffer_size;
  decltype(&cusolverDnDpotrf) factorise;
  decltype(&cusolverDnDpotrs) solve;
};

/// @throws DeviceError if the library cannot be loaded
const CusolverCalls& cusolver_calls();

/// @throws DeviceError with the status code of cuSOLVER and the location of the call
inline void cusolver_check(cusolverStatus_t status, const char* file_name = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  std::string file = file_name;
  file = file.substr(file.rfind('/') + 1);
  const char* const why =
      status == CUSOLVER_STATUS_ALLOC_FAILED ? ", not enough memory: use fewer replicas" : "";
  throw DeviceError("cuSOLVER returned status " + std::to_string(static_cast<int>(status)) + " (" +
                    file + ":" + std::to_string(line) + ")" + why);
}

}  // namespace tarn::gpu
