#pragma once

#include <string>

#include "kernels/device_probe.hpp"

namespace tarn {

/// One line with the problem and the remedy; empty if there is none.
/// @param driver, runtime CUDA versions, as in DeviceProbe
/// @param words message of the CUDA runtime, for other failures
inline std::string probe_message(ProbeStatus status, const std::string& driver,
                                 const std::string& runtime, const std::string& words) {
  switch (status) {
    case ProbeStatus::ok:
      return {};
    case ProbeStatus::not_built:
      return "built without CUDA: install the CUDA toolkit 12 or newer and configure again with "
             "-DTARN_CUDA=ON";
    case ProbeStatus::no_driver:
      return "no NVIDIA driver found: install one that supports CUDA " + runtime +
             " if this machine has an NVIDIA GPU";
    case ProbeStatus::driver_too_old:
      return "the NVIDIA driver supports CUDA " + driver + " and this build needs " + runtime +
             ": update the driver, or build with an older CUDA toolkit (12 or newer)";
    case ProbeStatus::no_device:
      return "the NVIDIA driver shows no device: check nvidia-smi and the variable "
             "CUDA_VISIBLE_DEVICES";
    case ProbeStatus::failed:
      break;
  }
  return "the CUDA runtime reports: " + words;
}

}  // namespace tarn
