#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "tarn/core/number.hpp"

/// @file
/// Exchanges the states of replica pairs, and of replicas with another engine; one thread per (pair
/// or replica, copy, molecule). Copies are the modes of ring polymers.

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

/// The work of a thread.
struct ExchangedMolecule {
  std::int64_t task;  ///< number of the pair or replica
  int copy, molecule;
};
__device__ ExchangedMolecule exchanged_molecule(const DeviceState& d) {
  const std::int64_t thread = thread_number(), row = thread / d.molecules;
  return {row / d.copies, static_cast<int>(row % d.copies),
          static_cast<int>(thread - row * d.molecules)};
}
__device__ std::int64_t slot_of_copy(const DeviceState& d, std::int64_t replica,
                                     const ExchangedMolecule& m) {
  return slot_of(replica * d.copies + m.copy, m.molecule, d.molecules, d.per_warp, d.adjacent);
}

__global__ void __launch_bounds__(kThreads)
    exchange_kernel(DeviceState d, double* solution, const PlacedExchange* pairs,
                    std::int64_t count, bool floats) {
  const ExchangedMolecule m = exchanged_molecule(d);
  if (m.task >= count) return;
  const PlacedExchange pair = pairs[m.task];
  const std::int64_t first = slot_of_copy(d, pair.first, m);
  const std::int64_t second = slot_of_copy(d, pair.second, m);
  const double to_first = m.copy == 0 ? 1.0 : pair.modes_to_first;
  const double to_second = m.copy == 0 ? 1.0 : pair.modes_to_second;
  for (int k = 0; k < 9; ++k) {
    const std::int64_t i = k * d.slots + first, j = k * d.slots + second;
    Coordinate a = load_coordinate(d, i), b = load_coordinate(d, j);
    a.x *= to_second;
    b.x *= to_first;
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

/// Numbers of a replica that another engine receives: [array][copy][molecule][9], with the solution
/// last.
__device__ inline std::int64_t number_of(const DeviceState& d, const ExchangedMolecule& m,
                                         int arrays, int array, int k) {
  const std::int64_t row = (m.task * arrays + array) * d.copies + m.copy;
  return (row * d.molecules + m.molecule) * 9 + k;
}

__global__ void __launch_bounds__(kThreads)
    take_coordinates_kernel(DeviceState d, const double* solution, const PlacedReplica* replicas,
                            std::int64_t count, double* numbers) {
  const ExchangedMolecule m = exchanged_molecule(d);
  if (m.task >= count) return;
  const std::int64_t slot = slot_of_copy(d, replicas[m.task].place, m);
  const int arrays = solution != nullptr ? 4 : 3;
  for (int k = 0; k < 9; ++k) {
    const Coordinate c = load_coordinate(d, k * d.slots + slot);
    numbers[number_of(d, m, arrays, 0, k)] = c.x;
    numbers[number_of(d, m, arrays, 1, k)] = c.v;
    numbers[number_of(d, m, arrays, 2, k)] = c.a;
    if (solution == nullptr) continue;
    numbers[number_of(d, m, arrays, 3, k)] = solution[k * d.slots + slot];
  }
}

__global__ void __launch_bounds__(kThreads)
    put_coordinates_kernel(DeviceState d, double* solution, const PlacedReplica* replicas,
                           std::int64_t count, bool floats, const double* numbers) {
  const ExchangedMolecule m = exchanged_molecule(d);
  if (m.task >= count) return;
  const PlacedReplica replica = replicas[m.task];
  const std::int64_t slot = slot_of_copy(d, replica.place, m);
  const double factor = m.copy == 0 ? 1.0 : replica.mode_factor;
  const int arrays = solution != nullptr ? 4 : 3;
  for (int k = 0; k < 9; ++k) {
    const Coordinate c{factor * numbers[number_of(d, m, arrays, 0, k)],
                       numbers[number_of(d, m, arrays, 1, k)],
                       numbers[number_of(d, m, arrays, 2, k)]};
    store_coordinate(d, c, replica.velocity_factor, floats, k * d.slots + slot);
    if (solution == nullptr) continue;
    solution[k * d.slots + slot] = numbers[number_of(d, m, arrays, 3, k)];
  }
  if (d.heat != nullptr) d.kept_heat[slot] = d.heat[slot];
}

}  // namespace

void launch_take_coordinates(const DeviceState& d, const double* solution,
                             const PlacedReplica* replicas, std::int64_t count, double* numbers,
                             cudaStream_t stream) {
  launch_threads(take_coordinates_kernel, count * d.copies * d.molecules, kThreads, stream, d,
                 solution, replicas, count, numbers);
}

void launch_put_coordinates(const DeviceState& d, double* solution, const PlacedReplica* replicas,
                            std::int64_t count, bool floats, const double* numbers,
                            cudaStream_t stream) {
  launch_threads(put_coordinates_kernel, count * d.copies * d.molecules, kThreads, stream, d,
                 solution, replicas, count, floats, numbers);
}

void launch_exchange(const DeviceState& d, double* solution, const PlacedExchange* pairs,
                     std::int64_t count, bool floats, cudaStream_t stream) {
  launch_threads(exchange_kernel, count * d.copies * d.molecules, kThreads, stream, d, solution,
                 pairs, count, floats);
}

}  // namespace tarn::gpu
