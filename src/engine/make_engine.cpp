#include <charconv>
#include <string>
#include <string_view>

#include "interface/check_start.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/engine.hpp"

namespace tarn {
namespace {

/// The number of "cuda" (0) or "cuda:<number>". @throws InputError
int cuda_index(const std::string& name) {
  if (name == "cuda") return 0;
  constexpr std::string_view prefix = "cuda:";
  int index = -1;
  const char* const end = name.data() + name.size();
  if (name.starts_with(prefix)) {
    const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, index);
    if (error == std::errc() && rest == end && index >= 0) return index;
  }
  throw InputError("unknown device '" + name + "': use auto, cpu, cuda or cuda:<number>");
}

}  // namespace

std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device) {
  check_start(system, start, counts);
  if (device.name == "auto" && probe_devices().status == ProbeStatus::ok) {
    try {
      return make_cuda_engine(system, start, counts, 0, device.threads);
    } catch (const DeviceError&) {
      // Too little memory, or no cuSOLVER for a dense solve.
    }
  }
  if (device.name == "auto" || device.name == "cpu") {
    return make_cpu_engine(system, start, counts, device.threads);
  }
  const int index = cuda_index(device.name);
  try {
    return make_cuda_engine(system, start, counts, index, device.threads);
  } catch (const DeviceError& error) {
    throw DeviceError("device '" + device.name + "': " + error.what() +
                      "; or use --device cpu or device = \"auto\"");
  }
}

}  // namespace tarn
