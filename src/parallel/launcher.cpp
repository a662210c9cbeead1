#include "launcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <set>
#include <unistd.h>

#include "kernels/device_probe.hpp"
#include "tarn/core/error.hpp"

namespace tarn::parallel {
namespace {

/// Variables with the number of processes.
struct Names {
  const char *size, *launcher;
};
constexpr Names kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "mpirun"},  // Open MPI
                                {"PMI_SIZE", "mpirun"},              // MPICH and relatives
                                {"PALS_NRANKS", "mpirun"},           // Cray
                                {"SLURM_STEP_NUM_TASKS", "srun"}};   // also without MPI

int number(const char* text, int otherwise) {
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end != text && value >= 0 && value < 100'000'000 ? static_cast<int>(value) : otherwise;
}

/// How to run each process alone.
constexpr const char* kAlone = "--ranks off (or TARN_RANKS=off) runs each process alone";

/// An argument, with the option before it.
std::string argument(const std::vector<std::string>& all, std::size_t k) {
  if (k >= all.size()) return "no further argument";
  const bool has_option = k > 0 && all[k - 1].starts_with("-") && !all[k].starts_with("-");
  return "'" + (has_option ? all[k - 1] + " " : "") + all[k] + "'";
}

}  // namespace

Launch launch_of_process() {
  for (const Names& names : kLaunchers) {
    const int size = number(std::getenv(names.size), 0);
    if (size > 1) return {size, names.launcher};
  }
  return {};
}

std::string separate_processes_message(const Launch& launch, bool has_mpi) {
  const std::string count = std::to_string(launch.size);
  const std::string common =
      launch.name + " started " + count + " processes, which cannot share a run: ";
  const std::string end = std::string("; ") + kAlone;
  if (!has_mpi) {
    return common +
           "this build has no MPI. Start one process, or install Open MPI or MPICH "
           "(libopenmpi-dev) and build tarn again" +
           end;
  }
  if (launch.name == "srun") {
    return common +
           "srun has no interface to the MPI of this build. Try srun --mpi=pmix or --mpi=pmi2 "
           "(srun --mpi=list lists them), or use mpirun" +
           end;
  }
  return common + "this " + launch.name +
         " belongs to another MPI than that of this build, which tarn doctor names" + end;
}

std::string difference_message(const LaunchedTask& task, const RankPlace& place,
                               const LaunchedTask& first, const RankPlace& first_place) {
  const std::string rank = "rank " + std::to_string(place.rank) + " on " + place.host;
  const std::string rank_0 = "rank 0 on " + first_place.host;
  const auto message = [](const std::string& difference) {
    return "the ranks do not share one run: " + difference + ". Give all the same command; " +
           kAlone;
  };
  for (std::size_t k = 0; k < std::max(task.arguments.size(), first.arguments.size()); ++k) {
    const std::string here = argument(task.arguments, k), there = argument(first.arguments, k);
    if (here != there) return message(rank + " was given " + here + ", " + rank_0 + " " + there);
  }
  if (task.folder != first.folder) {
    return message(rank + " runs in '" + task.folder + "', " + rank_0 + " in '" + first.folder +
                   "'");
  }
  for (std::size_t k = 0; k < task.contents.size(); ++k) {
    if (task.contents[k] == first.contents[k]) continue;
    return message("the files named by '" + task.arguments[k] + "' on " + rank + " and " + rank_0 +
                   " differ");
  }
  return {};
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
  struct Node {
    std::set<int> ranks;
    std::set<std::string> devices;
    std::size_t parts = 0;
  };
  std::map<std::string, Node> nodes;  // by host
  for (const EnginePart& part : parts) {
    if (part.device_id.empty()) continue;
    Node& node = nodes[part.host];
    node.ranks.insert(part.rank);
    node.devices.insert(part.device_id);
    ++node.parts;
  }
  const auto shared = std::ranges::find_if(
      nodes, [](const auto& entry) { return entry.second.parts > entry.second.devices.size(); });
  if (shared == nodes.end()) return;
  const auto& [host, node] = *shared;
  const std::string gpus = std::to_string(node.devices.size());
  throw DeviceError("device '" + name + "': " + std::to_string(node.ranks.size()) + " ranks on " +
                    host + " have " + gpus + (node.devices.size() == 1 ? " GPU" : " GPUs") +
                    " between them. Start " + gpus + " per node (mpirun --map-by ppr:" + gpus +
                    ":node, srun --ntasks-per-node=" + gpus +
                    "), or one process with --device cuda:all, or name the devices to share them");
}

}  // namespace tarn::parallel
