#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"

/// @file
/// Pair distances and energies for observers, at the reported positions q = x + b h^2 a. One block
/// per (replica, slice of the partners, tile), one thread per molecule i of the tile; each pair is
/// computed once, with j > i.

namespace tarn::gpu {
namespace {

__device__ Triple<double> reported(const DeviceState& d, double bh2, std::int64_t slot) {
  const MoleculeState<double> s{
      load_triple(d.x, d.slots, slot), {}, load_triple(d.a, d.slots, slot)};
  return pushed_back(s, bh2);
}

/// Slot of a molecule on any path.
__device__ std::int64_t device_slot(const DeviceState& d, std::int64_t replica, int molecule) {
  return slot_of(replica, molecule, d.molecules, d.per_warp);
}

/// The partners j > i in a slice.
__device__ Range partners_beyond(int i, int slice, int molecules) {
  const Range all = slice_range(slice, observed_slices(molecules), molecules);
  return {all.first > i ? all.first : i + 1, all.last};
}

__global__ void __launch_bounds__(kTile) count_kernel(DeviceState d, DeviceCounts counts) {
  const PairTile block = pair_tile(blockIdx.x, d.molecules, observed_slices(d.molecules));
  const std::int64_t replica = block.replica;
  const int i = block.tile * kTile + static_cast<int>(threadIdx.x);
  if (i >= d.molecules || d.stopped[replica] != 0) return;
  if (i == 0 && block.slice == 0) counts.add_sample(replica);
  const std::int64_t first = replica * d.molecules;
  const Triple<double> q = reported(d, counts.bh2, first + i);
  const Range partners = partners_beyond(i, block.slice, d.molecules);
  for (int j = partners.first; j < partners.last; ++j) {
    const Triple<double> other = reported(d, counts.bh2, first + j);
    for_each_distance(
        q, other, [&](int pair_class) { return counts.pairs[pair_class]; },
        [&](int pair_class, const Vec3<double>& r) { counts.add(replica, pair_class, norm2(r)); });
  }
}

template <bool kMSite>
__global__ void __launch_bounds__(kTile)
    energy_kernel(DeviceState d, ClusterSystem system, double* energies) {
  __shared__ double shared[kTile];
  const PairTile block = pair_tile(blockIdx.x, d.molecules, observed_slices(d.molecules));
  const std::int64_t replica = block.replica;
  const int i = block.tile * kTile + static_cast<int>(threadIdx.x);
  const double bh2 = system.step.bh2;
  double coulomb = 0.0, lj = 0.0;
  if (i < d.molecules) {
    const Triple<double> q = reported(d, bh2, device_slot(d, replica, i));
    const SiteOffsets<double> own = site_offsets<kMSite>(q, system.pair.m_weight);
    const Range partners = partners_beyond(i, block.slice, d.molecules);
    for (int j = partners.first; j < partners.last; ++j) {
      const Triple<double> other = reported(d, bh2, device_slot(d, replica, j));
      add_pair_energy<kMSite>(system.pair, q.o - other.o, own,
                              site_offsets<kMSite>(other, system.pair.m_weight), AllLanes{},
                              coulomb, lj);
    }
  }
  shared[threadIdx.x] = coulomb + lj;
  for (int n = kTile / 2; n > 0; n /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < n) shared[threadIdx.x] += shared[threadIdx.x + n];
  }
  if (threadIdx.x == 0) energies[blockIdx.x] = shared[0];
}

unsigned blocks_for(const DeviceState& d) {
  return static_cast<unsigned>(d.replicas * observed_tiles(d.molecules));
}

}  // namespace

void launch_count(const DeviceState& d, const DeviceCounts& counts, cudaStream_t stream) {
  launch_kernel(count_kernel, blocks_for(d), kTile, 0, stream, d, counts);
}

void launch_energy(const DeviceState& d, const ClusterSystem& system, bool m_site, double* energies,
                   cudaStream_t stream) {
  const auto kernel = m_site ? energy_kernel<true> : energy_kernel<false>;
  launch_kernel(kernel, blocks_for(d), kTile, 0, stream, d, system, energies);
}

}  // namespace tarn::gpu
