#include "launcher.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tarn::parallel {
namespace {

/// Variables with the number of processes and the rank of this one.
struct Names {
  const char *size, *rank, *launcher;
};
constexpr Names kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"},  // Open MPI
    {"PMI_SIZE", "PMI_RANK", "mpirun"},                          // MPICH and relatives
    {"PALS_NRANKS", "PALS_RANKID", "mpirun"},                    // Cray
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"}};           // also without MPI

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

Launch launch_of(const std::function<const char*(const char*)>& variable) {
  for (const Names& names : kLaunchers) {
    const int size = number(variable(names.size), 0);
    if (size > 1) return {size, number(variable(names.rank), 0), names.launcher};
  }
  return {};
}

Launch launch_of_process() {
  return launch_of([](const char* name) { return static_cast<const char*>(std::getenv(name)); });
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

}  // namespace tarn::parallel
