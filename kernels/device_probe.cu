#include "kernels/device_probe.hpp"

#include <utility>

#include <cuda_runtime.h>

namespace tarn {
namespace {

/// 13020 -> "13.2", 0 -> "".
std::string version_text(int version) {
  if (version <= 0) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

DeviceProbe give_up(DeviceProbe probe, ProbeStatus status, cudaError_t error = cudaSuccess) {
  probe.status = status;
  probe.message =
      probe_message(status, probe.driver_version, probe.runtime_version, cudaGetErrorString(error));
  probe.devices.clear();
  return probe;
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
  if (driver == 0) return give_up(std::move(probe), ProbeStatus::no_driver);

  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  cudaGetLastError();  // clear it: a later call must not report it
  if (error == cudaErrorInsufficientDriver) {
    return give_up(std::move(probe), ProbeStatus::driver_too_old);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    return give_up(std::move(probe), ProbeStatus::no_device);
  }
  if (error != cudaSuccess) return give_up(std::move(probe), ProbeStatus::failed, error);

  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    const cudaError_t device_error = cudaGetDeviceProperties(&properties, index);
    if (device_error != cudaSuccess) {
      return give_up(std::move(probe), ProbeStatus::failed, device_error);
    }
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
