#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "kernels/quench.hpp"
#include "tarn/core/error.hpp"

namespace tarn {

DeviceProbe probe_devices() {
  DeviceProbe probe;
  probe.status = ProbeStatus::not_built;
  probe.message = probe_message(probe.status, "", "", "");
  return probe;
}

std::string cusolver_problem() { return probe_devices().message; }

void check_cuda_device(int) { throw DeviceError(probe_devices().message); }

void quench_on_cuda(const System&, const QuenchRules&, int index, std::span<double>,
                    std::span<double>, const std::function<bool()>&) {
  check_cuda_device(index);
}

std::unique_ptr<Engine> make_cuda_engine(const System&, const State&, const PairCountRequest&, int,
                                         int) {
  throw DeviceError(probe_devices().message);
}

}  // namespace tarn
