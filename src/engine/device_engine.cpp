#include "device_engine.hpp"

#include <algorithm>
#include <string>

#include "core/processors.hpp"
#include "interface/measure.hpp"
#include "kernels/arithmetic_bound.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/device_probe.hpp"
#include "kernels/layout.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/devices.hpp"
#include "tarn/engine.hpp"

namespace tarn {
namespace {

/// Pairs per CPU thread below which the CPU is likely faster. A GPU step takes about 2 us for one
/// cluster of seven molecules or a thousand of them (NVIDIA H200); a CPU thread computes nine
/// clusters in that time.
constexpr double kPairsPerThread = 200.0;

/// Images of a many-body model per CPU thread below which the CPU is likely faster: by the count of
/// operations, not measured.
constexpr std::int64_t kImagesPerThread = 4;

/// The sentence on systems that only the CPU supports; empty for others. The forces on beads are
/// those of small clusters.
std::string cpu_only(const System& system) {
  if (system.has_isotopes()) return "isotopes run on the CPU";
  const bool many_body = system.model.is_many_body();
  const int most = many_body                        ? gpu::kMostManyBodyMolecules
                   : system.path_integral.beads > 1 ? gpu::kMostInBlock
                                                    : system.molecules;
  if (system.molecules <= most) return {};
  return std::string(many_body ? "many-body models" : "ring polymers") + " of more than " +
         std::to_string(most) + " molecules run on the CPU";
}

CudaDevices cuda_devices(const std::string& name) {
  if (const auto devices = parse_cuda_devices(name)) return *devices;
  throw InputError("unknown device '" + name +
                   "': use auto, cpu, cuda, cuda:<number>, cuda:<number>,<number> or cuda:all");
}

DeviceError unusable(const std::string& name, const std::string& why) {
  return DeviceError("device '" + name + "': " + why + "; or use --device cpu");
}

}  // namespace

void check_device(const std::string& name) {
  if (name == "auto" || name == "cpu") return;
  cuda_devices(name);
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) throw unusable(name, probe.message);
}

AutoDevice auto_device(const System& system, std::int64_t replicas, int threads) {
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) return {"cpu", ""};
  const bool many_body = system.model.is_many_body();
  const ProbedDevice& device = probe.devices.front();
  constexpr int kFewLanes = 16;
  const int lanes = gpu::lanes_of(device.compute_capability, false);
  if ((many_body || pair_force_precision(system) == Precision::double_) && lanes > 0 &&
      lanes < kFewLanes) {
    return {"cpu", device.name +
                       " has few units for double precision; using the CPU. Use --device cuda or "
                       "precision = \"mixed\" for the GPU"};
  }
  if (const std::string problem = cpu_only(system); !problem.empty()) return {"cpu", problem};
  if (uses_dense_solver(system.integrator)) {
    const std::string problem = cusolver_problem();
    if (!problem.empty()) return {"cpu", "dense solves run on the CPU: " + problem};
  }
  const double pairs =
      0.5 * system.molecules * (system.molecules - 1) * replicas * system.path_integral.beads;
  const std::int64_t cores =
      std::min<std::int64_t>(threads > 0 ? threads : default_threads(), replicas);
  const std::int64_t images = replicas * system.path_integral.beads;
  if (many_body && images < kImagesPerThread * (threads > 0 ? threads : default_threads())) {
    return {"cpu", ""};
  }
  if (many_body || pairs > kPairsPerThread * static_cast<double>(cores)) {
    if (probe.devices.size() == 1 || replicas == 1) return {"cuda", ""};
    return {"cuda", "using one of " + std::to_string(probe.devices.size()) +
                        " GPUs; --device cuda:all uses all of them"};
  }
  return {"cuda", "few molecules and replicas for a GPU; --device cpu is likely faster"};
}

void refuse_cuda(const System& system, const DeviceRequest& device) {
  if (device.name == "auto" || device.name == "cpu") return;
  const std::string problem = device.potential ? "a potential requires the CPU" : cpu_only(system);
  if (problem.empty()) return;
  throw InputError("device '" + device.name + "': " + problem + "; use --device cpu");
}

std::unique_ptr<Engine> make_device_engine(const System& system, const State& start,
                                           const PairCountRequest& counts,
                                           const DeviceRequest& device) {
  check_start(system, start, counts);
  refuse_cuda(system, device);
  const std::string name = device.potential ? "cpu"
                           : device.name == "auto"
                               ? auto_device(system, start.replicas(), device.threads).name
                               : device.name;
  if (name == "cpu") {
    return make_cpu_engine(system, start, counts, device.threads, "", device.potential);
  }
  const CudaDevices devices = cuda_devices(name);
  if (devices.indices.size() != 1) {
    throw InputError("device '" + name + "': only runs can use several devices; use cuda:<number>");
  }
  try {
    return make_cuda_engine(system, start, counts, devices.indices.front(), device.threads);
  } catch (const DeviceError& error) {
    throw unusable(device.name, error.what());
  }
}

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
