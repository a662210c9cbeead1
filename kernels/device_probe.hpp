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

}  // namespace tarn
