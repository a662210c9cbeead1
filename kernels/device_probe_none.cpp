#include "kernels/device_probe.hpp"

namespace tarn {

DeviceProbe probe_devices() {
  DeviceProbe probe;
  probe.status = ProbeStatus::not_built;
  probe.message =
      "built without CUDA: install the CUDA toolkit 12 or newer and configure again with "
      "-DTARN_CUDA=ON";
  return probe;
}

}  // namespace tarn
