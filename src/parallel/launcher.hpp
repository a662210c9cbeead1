#pragma once

#include <functional>
#include <string>

#include "tarn/ranks.hpp"

namespace tarn::parallel {

/// The launcher that started this process, from its environment variables.
struct Launch {
  int size = 1;      ///< processes that it started
  int rank = 0;      ///< of this one
  std::string name;  ///< "mpirun" or "srun"; empty: none
};

/// @param variable value of an environment variable, or nullptr
Launch launch_of(const std::function<const char*(const char*)>& variable);
/// The same from the environment of this process.
Launch launch_of_process();

/// Message for processes that were started together but cannot work together.
/// @param has_mpi whether this build has MPI, then of another kind
std::string separate_processes_message(const Launch& launch, bool has_mpi);

/// Message for ranks that were started to do different things; empty if they were not.
/// @param first of rank 0 @param first_place of rank 0
std::string difference_message(const LaunchedTask& task, const RankPlace& place,
                               const LaunchedTask& first, const RankPlace& first_place);

}  // namespace tarn::parallel
