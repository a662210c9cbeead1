#include <fmt/format.h>

#include "commands.hpp"
#include "core/processors.hpp"
#include "doctor_text.hpp"
#include "kernels/cuda_engine.hpp"
#include "tarn/build_features.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/io/plot.hpp"
#include "tarn/version.hpp"

namespace tarn::cli {
namespace {

void doctor() {
  fmt::print("tarn {}, {} build with {}\n", kVersion, build::kType, build::kCompiler);
  fmt::print("flags: {}\n\n", build::kFlags);

  const std::vector<std::string> sets = cpu_instruction_sets();
  const std::string name = processor_name();
  fmt::print("CPU: {}{} thread{}; instruction set {}", name.empty() ? "" : name + ", ",
             default_threads(), default_threads() == 1 ? "" : "s", sets.front());
  fmt::print(" (in this build: {})\n", build::kInstructionSets);
#if defined(__aarch64__)
  fmt::print("     portable means NEON here: 16 bytes at a time.\n");
#else
  if (sets.front() == "portable") {
    fmt::print("     Neither AVX2 nor AVX-512 can be used: expect a quarter of the speed.\n");
  }
#endif

  if (build::kCudaVersion.empty()) {
    fmt::print("CUDA: not in this build\n");
  } else {
    fmt::print("CUDA: built with {} for {}\n", build::kCudaVersion, build::kCudaArchitectures);
  }
  const DeviceProbe probe = probe_devices();
  fmt::print("{}", text_of(probe));
  if (!build::kCudaVersion.empty()) {
    const std::string problem = cusolver_problem();
    fmt::print("      dense solves: {}\n", problem.empty() ? "cuSOLVER is there" : problem);
  }
  fmt::print("      device = \"auto\" takes {}\n",
             probe.status == ProbeStatus::ok ? "cuda:0" : "the CPU");

  fmt::print("pictures: {}\n", io::can_draw()
                                   ? "gnuplot found"
                                   : "gnuplot is missing; tables are written, pictures are not. "
                                     "Install it: apt-get install gnuplot-nox");
  fmt::print("{}", hdf5_text(build::kHdf5Version));
}

}  // namespace

void add_doctor(CLI::App& app) {
  app.add_subcommand("doctor", "what this machine and this build can do")->callback(doctor);
}

}  // namespace tarn::cli
