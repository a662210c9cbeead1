#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/device_probe.hpp"
#include "tarn/ranks.hpp"
#include "terminal.hpp"

namespace tarn::cli {

/// Result of the search for devices: one indented line per device.
inline std::string probe_text(const DeviceProbe& probe) {
  std::string text;
  if (probe.status != ProbeStatus::ok) text += fmt::format("      {}\n", probe.message);
  if (!probe.driver_version.empty()) {
    text += fmt::format("      the driver supports CUDA up to {}\n", probe.driver_version);
  }
  for (const ProbedDevice& d : probe.devices) {
    text += fmt::format("      cuda:{} {}, compute capability {}, {} multiprocessors, {:.0f} GiB\n",
                        d.index, d.name, d.compute_capability, d.multiprocessors, d.memory_GiB);
  }
  return text;
}

/// One line per rank: processors, devices and share of the replicas.
inline std::string ranks_text(const std::vector<RankPlace>& places) {
  std::string text;
  for (const RankPlace& p : places) {
    text += fmt::format("      rank {}: {}, {} of {} on this node, {} of {}, {}; replicas {}/{}\n",
                        p.rank, p.host, p.rank_on_node + 1, p.ranks_on_node, p.threads,
                        count_text(p.processors, "processor"), fmt::join(p.devices, ", "),
                        p.rank + 1, places.size());
  }
  return text;
}

}  // namespace tarn::cli
