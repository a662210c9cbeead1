#include "kernels/device_probe.hpp"
#include "kernels/probe_message.hpp"

namespace tarn {

DeviceProbe probe_devices() {
  DeviceProbe probe;
  probe.status = ProbeStatus::not_built;
  probe.message = probe_message(probe.status, "", "", "");
  return probe;
}

}  // namespace tarn
