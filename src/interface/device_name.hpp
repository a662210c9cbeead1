#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tarn {

/// The CUDA devices that a name selects.
struct CudaDevices {
  bool all = false;          ///< all that the process can use
  std::vector<int> indices;  ///< otherwise these
};

/// Reads "cuda", "cuda:i", "cuda:i,j,..." or "cuda:all"; empty for any other text.
std::optional<CudaDevices> parse_cuda_devices(std::string_view name);

}  // namespace tarn
