#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "tarn/core/number.hpp"

/// @file
/// Exchanges the states of replica pairs; one thread per (pair, molecule).

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;

/// One coordinate of a molecule, as the other replica receives it. It also becomes the kept state,
/// as after a start.
struct Coordinate {
  double x, v, a;
};
__device__ inline Coordinate load_coordinate(const DeviceState& d, std::int64_t from) {
  return {d.x[from], d.v[from], d.a[from]};
}
__device__ inline void store_coordinate(const DeviceState& d, const Coordinate& c, double factor,
                                        bool floats, std::int64_t to) {
  const double v = floats ? static_cast<double>(static_cast<float>(c.v * factor)) : c.v * factor;
  d.x[to] = d.kept_x[to] = c.x;
  d.v[to] = d.kept_v[to] = v;
  if (d.v_thermal != nullptr) d.v_thermal[to] = kNoNumber;
  d.a[to] = c.a;
}

__global__ void __launch_bounds__(kThreads)
    exchange_kernel(DeviceState d, double* solution, const PlacedExchange* pairs,
                    std::int64_t count, bool floats) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= count * d.molecules) return;
  const PlacedExchange pair = pairs[thread / d.molecules];
  const int molecule = static_cast<int>(thread % d.molecules);
  const std::int64_t first = slot_of(pair.first, molecule, d.molecules, d.per_warp);
  const std::int64_t second = slot_of(pair.second, molecule, d.molecules, d.per_warp);
  for (int k = 0; k < 9; ++k) {
    const std::int64_t i = k * d.slots + first, j = k * d.slots + second;
    const Coordinate a = load_coordinate(d, i), b = load_coordinate(d, j);
    store_coordinate(d, b, pair.to_first, floats, i);
    store_coordinate(d, a, pair.to_second, floats, j);
    if (solution != nullptr) {
      const double q = solution[i];
      solution[i] = solution[j];
      solution[j] = q;
    }
  }
  if (d.heat == nullptr) return;
  d.kept_heat[first] = d.heat[first];
  d.kept_heat[second] = d.heat[second];
}

}  // namespace

void launch_exchange(const DeviceState& d, double* solution, const PlacedExchange* pairs,
                     std::int64_t count, bool floats, cudaStream_t stream) {
  const std::int64_t blocks = (count * d.molecules + kThreads - 1) / kThreads;
  launch_kernel(exchange_kernel, static_cast<unsigned>(blocks), kThreads, 0, stream, d, solution,
                pairs, count, floats);
}

}  // namespace tarn::gpu
