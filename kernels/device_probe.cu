#include "kernels/device_probe.hpp"

#include <cuda_runtime.h>

namespace tarn {
namespace {

/// 13020 -> "13.2", 0 -> "".
std::string version_text(int version) {
  if (version <= 0) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceProbe give_up(DeviceProbe probe, ProbeStatus status, std::string message) {
  probe.status = status;
  probe.message = std::move(message);
  probe.devices.clear();
  return probe;
}

DeviceProbe give_up(DeviceProbe probe, cudaError_t error) {
  return give_up(std::move(probe), ProbeStatus::failed,
                 std::string("the CUDA runtime says: ") + cudaGetErrorString(error));
}

}  // namespace

DeviceProbe probe_devices() {
  DeviceProbe probe;
  int driver = 0;
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  probe.runtime_version = version_text(runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  probe.driver_version = version_text(driver);
  if (driver == 0) {
    return give_up(std::move(probe), ProbeStatus::no_driver,
                   "no NVIDIA driver was found: install one that supports CUDA " +
                       version_text(runtime) + " if this machine has an NVIDIA GPU");
  }

  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();  // forget it: a later call must not stumble over it
  if (error == cudaErrorInsufficientDriver) {
    return give_up(std::move(probe), ProbeStatus::driver_too_old,
                   "the NVIDIA driver supports CUDA " + version_text(driver) +
                       " and this build needs " + version_text(runtime) +
                       ": update the driver, or build with an older CUDA toolkit (12 or newer)");
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    return give_up(std::move(probe), ProbeStatus::no_device,
                   "the NVIDIA driver shows no device: see nvidia-smi and the variable "
                   "CUDA_VISIBLE_DEVICES");
  }
  if (error != cudaSuccess) return give_up(std::move(probe), error);

  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    const cudaError_t device_error = cudaGetDeviceProperties(&properties, index);
    if (device_error != cudaSuccess) return give_up(std::move(probe), device_error);
    probe.devices.push_back(
        {index, properties.name,
         std::to_string(properties.major) + "." + std::to_string(properties.minor),
         properties.multiProcessorCount,
         static_cast<double>(properties.totalGlobalMem) / (1024.0 * 1024.0 * 1024.0)});
  }
  probe.status = ProbeStatus::ok;
  return probe;
}

}  // namespace tarn
