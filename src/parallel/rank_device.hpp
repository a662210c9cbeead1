#pragma once

#include <span>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"

namespace tarn::parallel {

/// Number of processors, limited by the quota of the process's control group.
int within_quota(int processors);
/// Threads of a rank: OMP_NUM_THREADS, or an equal share of the node's processors, but not more
/// than the process may use.
int default_threads_of_rank(int processors, int processors_of_node, int ranks_on_node);

/// The device of one rank: "cuda" and "cuda:all" become the devices of its share of the node.
/// @param devices CUDA devices that the process can use
std::string device_of_rank(const std::string& name, int devices, int rank_on_node,
                           int ranks_on_node);

/// The CUDA devices of this process, or why there are none.
std::vector<std::string> devices_of_process();

/// @throws DeviceError if ranks share a GPU although the name leaves the choice to tarn
void refuse_shared_devices(const std::string& name, std::span<const EnginePart> parts);

}  // namespace tarn::parallel
