#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "core/processors.hpp"
#include "engine/device_engine.hpp"
#include "interface/check_start.hpp"
#include "interface/device_name.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"
#include "tarn/engine.hpp"
#include "tarn/split_engine.hpp"

namespace tarn {
namespace {

/// The devices of "cuda:all".
std::vector<int> all_devices() {
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) {
    throw DeviceError("device 'cuda:all': " + probe.message + "; or use --device cpu");
  }
  std::vector<int> indices(probe.devices.size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device) {
  check_start(system, start, counts);
  refuse_cuda_for_potential(system, device);
  std::optional<CudaDevices> devices = parse_cuda_devices(device.name);
  if (devices && devices->all) devices->indices = all_devices();
  if (!devices || (!devices->all && devices->indices.size() == 1)) {
    return make_device_engine(system, start, counts, device);
  }
  const int threads = device.threads > 0 ? device.threads : default_threads();
  const int each = std::max(1, threads / static_cast<int>(devices->indices.size()));
  std::vector<PartMaker> makers;
  for (const int index : devices->indices) {
    makers.emplace_back([&, index](const State& share) {
      return make_device_engine(system, share, counts, {"cuda:" + std::to_string(index), each});
    });
  }
  return make_split_engine(system, start, makers, threads);
}

}  // namespace tarn
