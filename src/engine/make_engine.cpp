#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/engine.hpp"

namespace tarn {

std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device) {
  if (device.name == "auto" || device.name == "cpu") {
    return make_cpu_engine(system, start, counts, device.threads);
  }
  if (device.name == "cuda" || device.name.starts_with("cuda:")) {
    throw DeviceError(
        "device '" + device.name +
        "': this version runs water on the CPU only; use --device cpu or device = \"auto\"");
  }
  throw InputError("unknown device '" + device.name + "': use auto, cpu, cuda or cuda:<number>");
}

}  // namespace tarn
