#pragma once

#include <span>
#include <string>
#include <vector>

#include "tarn/engine.hpp"
#include "tarn/ranks.hpp"

namespace tarn::parallel {

/// The launcher that started this process, from its environment variables.
struct Launch {
  int size = 1;      ///< processes that it started
  std::string name;  ///< "mpirun" or "srun"; empty: none
};

Launch launch_of_process();

/// Message for processes that were started together but cannot work together.
/// @param has_mpi whether this build has MPI, then of another kind
std::string separate_processes_message(const Launch& launch, bool has_mpi);

/// Message for ranks that were started to do different things; empty if they were not.
/// @param first of rank 0 @param first_place of rank 0
std::string difference_message(const LaunchedTask& task, const RankPlace& place,
                               const LaunchedTask& first, const RankPlace& first_place);

/// The device of one rank: "cuda" and "cuda:all" become the devices of its share of the node.
/// @param devices CUDA devices that the process can use
std::string device_of_rank(const std::string& name, int devices, int rank_on_node,
                           int ranks_on_node);

/// The CUDA devices of this process, or why there are none.
std::vector<std::string> devices_of_process();

/// @throws DeviceError if ranks share a GPU although the name leaves the choice to tarn
void refuse_shared_devices(const std::string& name, std::span<const EnginePart> parts);

}  // namespace tarn::parallel
