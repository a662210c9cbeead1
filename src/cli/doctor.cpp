#include <fmt/format.h>

#include "command.hpp"
#include "core/processors.hpp"
#include "deck_arguments.hpp"
#include "io/draw.hpp"
#include "io/frame_formats.hpp"
#include "kernels/cuda_engine.hpp"
#include "tarn/build_features.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/version.hpp"
#include "terminal.hpp"
#include "texts.hpp"

namespace tarn::cli {
namespace {

void doctor() {
  fmt::print("tarn {}, {} build with {}\n", kVersion, build::kType, build::kCompiler);
  fmt::print("flags: {}\n\n", build::kFlags);

  const std::vector<std::string> sets = cpu_instruction_sets();
  const std::string name = processor_name();
  fmt::print("CPU: {}{}; instruction set {} (this build has {})\n", name.empty() ? "" : name + ", ",
             count_text(default_threads(), "thread"), sets.front(), build::kInstructionSets);
#if defined(__aarch64__)
  fmt::print("     On this processor, portable means NEON (16-byte vectors).\n");
#else
  if (sets.front() == "portable") {
    fmt::print("     Neither AVX2 nor AVX-512 is available: expect a quarter of the speed.\n");
    if (build::kInstructionSets.find("avx2") == std::string_view::npos) {
      fmt::print(
          "     This build has no AVX2. For processors with it, configure with "
          "-DTARN_CPU_TABLES=all\n");
    }
  }
#endif

  if (build::kCudaVersion.empty()) {
    fmt::print("CUDA: not in this build\n");
  } else {
    fmt::print("CUDA: built with {} for {}\n", build::kCudaVersion, build::kCudaArchitectures);
  }
  const DeviceProbe probe = probe_devices();
  fmt::print("{}", probe_text(probe));
  if (!build::kCudaVersion.empty()) {
    const std::string problem = cusolver_problem();
    fmt::print("      dense solves: {}\n", problem.empty() ? "cuSOLVER is available" : problem);
  }
  fmt::print("      device = \"auto\" selects {}\n",
             probe.status == ProbeStatus::ok ? "cuda:0" : "the CPU");

  const std::string python = io::python_with_matplotlib();
  fmt::print("pictures: {}\n",
             !python.empty() ? "matplotlib found, with " + python
                             : "matplotlib not found, so only tables are written. Install it: "
                               "apt-get install python3-matplotlib");
  std::string hdf5;
  try {
    hdf5 = io::hdf5_version();
  } catch (const InputError& error) {
    hdf5 = error.what();
  }
  fmt::print("HDF5: {}\n", hdf5);
  if (Ranks* const all = ranks()) {
    fmt::print("MPI: {}, {} ranks\n{}", all->library(), all->size(),
               ranks_text(all->find_devices()));
  } else if (!ranks_problem().empty()) {
    fmt::print("MPI: {}\n", ranks_problem());
  } else {
    fmt::print("MPI: {}\n", build::kMpi.empty() ? "not in this build" : build::kMpi);
  }
}

}  // namespace

void add_doctor(Command& app) {
  app.add_subcommand("doctor", "show the capabilities of this machine and this build", doctor);
}

}  // namespace tarn::cli
