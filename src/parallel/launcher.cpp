#include "launcher.hpp"

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
      launch.name + " started " + count + " processes, each of which would run alone: ";
  if (!has_mpi) {
    return common +
           "this build has no MPI. Start one process, or install Open MPI or MPICH "
           "(libopenmpi-dev) and build tarn again";
  }
  if (launch.name == "srun") {
    return common +
           "srun has no interface to the MPI of this build. Try srun --mpi=pmix or --mpi=pmi2 "
           "(srun --mpi=list lists them), or use mpirun";
  }
  return common + "this " + launch.name +
         " belongs to another MPI than that of this build, which tarn doctor names";
}

}  // namespace tarn::parallel
