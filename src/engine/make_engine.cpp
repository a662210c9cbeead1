#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda_engine.hpp"
#include "tarn/core/error.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/engine.hpp"
#include "tarn/steps/single.hpp"

namespace tarn {
namespace {

/// The number of "cuda" (0) or "cuda:<number>". @throws InputError
int cuda_index(const std::string& name) {
  if (name == "cuda") return 0;
  constexpr std::string_view prefix = "cuda:";
  int index = -1;
  const char* const end = name.data() + name.size();
  if (name.starts_with(prefix)) {
    const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, index);
    if (error == std::errc() && rest == end && index >= 0) return index;
  }
  throw InputError("unknown device '" + name + "': use auto, cpu, cuda or cuda:<number>");
}

/// @throws InputError for schemes that single precision has not, and for molecules that fixed-point
/// positions cannot hold
void check_single(const System& system, const State& start) {
  if (!runs_in_single(system.integrator)) {
    throw InputError(
        "precision = \"single\" is not for Newmark and dense solves; use \"mixed\" or \"double\"");
  }
  const std::vector<double>& x = start.positions_A;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double from_oxygen = x[k] - x[k / 9 * 9 + k % 3];
    if (std::abs(x[k]) < kLargestFixedPosition && std::abs(from_oxygen) < kLargestFixedOffset) {
      continue;
    }
    throw InputError("precision = \"single\" holds hydrogens within " +
                     std::to_string(static_cast<int>(kLargestFixedOffset)) +
                     " A of their oxygen and positions within 1.6e7 A; molecule " +
                     std::to_string(k / 9 % static_cast<std::size_t>(start.molecules) + 1) +
                     " is not: use \"mixed\"");
  }
}

}  // namespace

std::unique_ptr<Engine> make_engine(const System& system, const State& start,
                                    const PairCountRequest& counts, const DeviceRequest& device) {
  if (system.precision == Precision::single) check_single(system, start);
  // The CUDA engine has not been checked on a GPU yet: nobody gets it without asking for it.
  if (device.name == "auto" || device.name == "cpu") {
    return make_cpu_engine(system, start, counts, device.threads);
  }
  const int index = cuda_index(device.name);
  try {
    return make_cuda_engine(system, start, counts, index);
  } catch (const DeviceError& error) {
    throw DeviceError("device '" + device.name + "': " + error.what() +
                      "; or use --device cpu or device = \"auto\"");
  }
}

}  // namespace tarn
