#pragma once

#include <string>

#include <cusolverDn.h>

#include "tarn/core/error.hpp"

/// @file
/// What tarn calls of cuSOLVER. The library is loaded when it is first needed: it is large, and the
/// program must start without it.

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

/// @throws DeviceError where the library cannot be loaded
const CusolverCalls& cusolver_calls();

/// @throws DeviceError with the number that cuSOLVER gave and the place of the call
inline void cusolver_check(cusolverStatus_t status, const char* file_name = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  std::string file = file_name;
  file = file.substr(file.rfind('/') + 1);
  const char* const why =
      status == CUSOLVER_STATUS_ALLOC_FAILED ? ", too little memory: take fewer replicas" : "";
  throw DeviceError("cuSOLVER gave status " + std::to_string(static_cast<int>(status)) + " (" +
                    file + ":" + std::to_string(line) + ")" + why);
}

}  // namespace tarn::gpu
