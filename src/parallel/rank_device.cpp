#include "rank_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <unistd.h>

#include "core/processors.hpp"
#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"

namespace tarn::parallel {

int within_quota(int processors) {
  const int all = std::max(1, processors);
  const double quota = quota_of_control_group("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota > 0.0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, all) : all;
}

int default_threads_of_rank(int processors, int processors_of_node, int ranks_on_node) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return default_threads();
  return std::clamp(processors_of_node / std::max(1, ranks_on_node), 1, std::max(1, processors));
}

std::string device_of_rank(const std::string& name, int devices, int rank_on_node,
                           int ranks_on_node) {
  const bool is_all = name == "cuda:all";
  if ((name != "cuda" && !is_all) || devices < 1) return name;
  std::string indices = std::to_string(rank_on_node % devices);
  if (is_all) {
    for (int next = rank_on_node + ranks_on_node; next < devices; next += ranks_on_node) {
      indices += "," + std::to_string(next);
    }
  }
  return "cuda:" + indices;
}

std::vector<std::string> devices_of_process() {
  const DeviceProbe probe = probe_devices();
  if (probe.status != ProbeStatus::ok) return {probe.message};
  std::vector<std::string> texts;
  for (const ProbedDevice& device : probe.devices) {
    texts.push_back("cuda:" + std::to_string(device.index) + " " + device.name);
  }
  return texts;
}

void refuse_shared_devices(const std::string& name, std::span<const EnginePart> parts) {
  if (name != "cuda" && name != "cuda:all") return;
  std::map<std::string, std::set<int>> ranks;  // by host
  std::map<std::string, std::set<std::string>> devices;
  std::set<std::string> too_few;
  std::set<std::pair<std::string, std::string>> seen;
  for (const EnginePart& part : parts) {
    if (part.device_id.empty()) continue;
    ranks[part.host].insert(part.rank);
    devices[part.host].insert(part.device_id);
    if (!seen.insert({part.host, part.device_id}).second) too_few.insert(part.host);
  }
  if (too_few.empty()) return;
  const std::string& host = *too_few.begin();
  const std::string gpus = std::to_string(devices[host].size());
  throw DeviceError("device '" + name + "': " + std::to_string(ranks[host].size()) + " ranks on " +
                    host + " have " + gpus + (devices[host].size() == 1 ? " GPU" : " GPUs") +
                    " between them. Start " + gpus + " per node (mpirun --map-by ppr:" + gpus +
                    ":node, srun --ntasks-per-node=" + gpus +
                    "), or one process with --device cuda:all, or name the devices to share them");
}

}  // namespace tarn::parallel
