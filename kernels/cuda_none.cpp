#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"

namespace tarn {

DeviceProbe probe_devices() {
  DeviceProbe probe;
  probe.status = ProbeStatus::not_built;
  probe.message = probe_message(probe.status, "", "", "");
  return probe;
}

std::string cusolver_problem() { return probe_devices().message; }

std::unique_ptr<Engine> make_cuda_engine(const System&, const State&, const PairCountRequest&, int,
                                         int) {
  throw DeviceError(probe_devices().message);
}

}  // namespace tarn
