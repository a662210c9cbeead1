#pragma once

#include <string>
#include <vector>

namespace tarn {

/// Why no CUDA device can be used, in the order in which they are noticed.
enum class ProbeStatus {
  ok,
  not_built,       ///< this build has no CUDA in it
  no_driver,       ///< no NVIDIA driver on this machine
  driver_too_old,  ///< the driver is older than the CUDA runtime of this build
  no_device,       ///< a driver, but no device that it shows to this process
  failed           ///< anything else; `message` has the words of the CUDA runtime
};

/// One CUDA device.
struct ProbedDevice {
  int index = 0;
  std::string name;
  std::string compute_capability;  ///< "9.0"
  int multiprocessors = 0;
  double memory_GiB = 0.0;
};

/// What probe_devices() found. Versions are "13.0", or empty where there is none.
struct DeviceProbe {
  ProbeStatus status = ProbeStatus::not_built;
  std::string message;          ///< one line: what is the matter and what to do; empty if ok
  std::string driver_version;   ///< newest CUDA version that the driver supports
  std::string runtime_version;  ///< CUDA version that this build was made with
  std::vector<ProbedDevice> devices;
};

/// Looks for CUDA devices. Never throws on account of what it finds; can be called on any machine.
DeviceProbe probe_devices();

}  // namespace tarn
