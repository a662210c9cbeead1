#pragma once

#include <string>
#include <vector>

namespace tarn {

/// Why no CUDA device can be used, in the order of the checks.
enum class ProbeStatus {
  ok,
  not_built,       ///< this build has no CUDA
  no_driver,       ///< no NVIDIA driver on this machine
  driver_too_old,  ///< the driver is older than the CUDA runtime of this build
  no_device,       ///< the driver shows no device to this process
  failed           ///< anything else; `message` contains the error of the CUDA runtime
};

/// One CUDA device.
struct ProbedDevice {
  int index = 0;
  std::string name;
  std::string compute_capability;  ///< "9.0"
  int multiprocessors = 0;
  double memory_GiB = 0.0;
};

/// Result of probe_devices(). Versions are strings such as "13.0", empty if unknown.
struct DeviceProbe {
  ProbeStatus status = ProbeStatus::not_built;
  std::string message;          ///< one line: the problem and the remedy; empty if ok
  std::string driver_version;   ///< newest CUDA version that the driver supports
  std::string runtime_version;  ///< CUDA version that this build was made with
  std::vector<ProbedDevice> devices;
};

/// Lists the CUDA devices. It can be called on any machine: problems are reported in the status.
DeviceProbe probe_devices();
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
