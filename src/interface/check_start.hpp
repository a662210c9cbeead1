#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tarn/engine.hpp"

namespace tarn {

/// What every engine is checked for before it is made.
/// @throws InputError when the state is not one of the system's, or has arrays of the wrong sizes
/// or replicas of one id; when a number of the system is out of its range; when pairs cannot be
/// counted as asked for; when single precision has not the scheme, or cannot hold the molecules
void check_start(const System& system, const State& start, const PairCountRequest& counts);

/// The CUDA devices that a name selects.
struct CudaDevices {
  bool all = false;          ///< all that the process can use
  std::vector<int> indices;  ///< otherwise these
};

/// Reads "cuda", "cuda:i", "cuda:i,j,..." or "cuda:all"; empty for any other text.
std::optional<CudaDevices> parse_cuda_devices(std::string_view name);

/// The system whose steps and measurements have no forces or energies of the water model.
/// @throws InputError if the scheme or the precision requires those
System without_model_forces(System system);

}  // namespace tarn
