#include "tarn/devices.hpp"

#include "core/processors.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/cpu_engine.hpp"

namespace tarn {

Devices find_devices() {
  Devices found;
  const int threads = default_threads();
  found.devices.push_back(
      {"cpu", cpu_description("CPU, " + cpu_instruction_sets().front(), threads), threads, 0.0});
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) {
    found.note = probe.message;
    return found;
  }
  for (const ProbedDevice& device : probe.devices) {
    found.devices.push_back({"cuda:" + std::to_string(device.index),
                             device.name + ", compute capability " + device.compute_capability, 0,
                             device.memory_GiB});
  }
  return found;
}

}  // namespace tarn
