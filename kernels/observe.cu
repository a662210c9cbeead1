#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/measured.cuh"
#include "physics/pair_force.hpp"

/// @file
/// Pair distances, and energies of large clusters, at the reported positions q = x + b h^2 a.

namespace tarn::gpu {
namespace {

constexpr int kCountThreads = 128, kPairsOfBlock = 32 * kCountThreads;
constexpr std::size_t kMostSharedBytes = 48 * 1024;

/// The partners j > i in a slice.
__device__ Range partners_beyond(int i, int slice, int molecules) {
  const Range all = slice_range(slice, observed_slices(molecules), molecules);
  return {all.first > i ? all.first : i + 1, all.last};
}

/// Block (group, chunk): distances of the pairs of molecules of a group of replicas, into a
/// histogram in shared memory, which then goes to that of the group. Counts are integers, so that
/// their order does not matter.
__global__ void __launch_bounds__(kCountThreads)
    count_kernel(DeviceState d, DeviceCounts counts, int chunks, bool in_shared) {
  TARN_DYNAMIC_SHARED(memory);
  auto* const histogram = reinterpret_cast<unsigned*>(memory);
  const int group = static_cast<int>(blockIdx.x) / chunks;
  const int chunk = static_cast<int>(blockIdx.x) % chunks;
  const int thread = static_cast<int>(threadIdx.x), rows = 3 * counts.bins;
  const int first = counts.begins[group], replicas = counts.begins[group + 1] - first;
  unsigned long long* const of_group = counts.counts + static_cast<std::int64_t>(group) * rows;
  if (chunk == 0) {
    unsigned long long live = 0;
    for (int r = thread; r < replicas; r += kCountThreads) {
      live += d.stopped[counts.by_group[first + r]] == 0;
    }
    if (live > 0) atomicAdd(counts.samples + group, live);
  }
  if (in_shared) {
    for (int k = thread; k < rows; k += kCountThreads) histogram[k] = 0;
    __syncthreads();
  }
  const std::int64_t pairs = molecule_pairs(d.molecules), all = pairs * replicas;
  const std::int64_t begin = static_cast<std::int64_t>(chunk) * kPairsOfBlock;
  const std::int64_t end = begin + kPairsOfBlock < all ? begin + kPairsOfBlock : all;
  for (std::int64_t k = begin + thread; k < end; k += kCountThreads) {
    const std::int64_t replica = counts.by_group[first + k / pairs];
    if (d.stopped[replica] != 0) continue;
    const MoleculePair pair = molecule_pair(k % pairs);
    const Triple<double> a = reported(d, counts.bh2, device_slot(d, replica, pair.later));
    const Triple<double> b = reported(d, counts.bh2, device_slot(d, replica, pair.earlier));
    for_each_distance(
        a, b, [&](int pair_class) { return counts.pairs[pair_class]; },
        [&](int pair_class, const Vec3<double>& r) {
          const double at = sqrt(norm2(r)) * counts.bins_per_A;
          if (!(at < counts.bins)) return;  // beyond r_max, or no number
          const int bin = pair_class * counts.bins + static_cast<int>(at);
          if (in_shared) {
            atomicAdd(histogram + bin, 1u);
          } else {
            atomicAdd(of_group + bin, 1ULL);
          }
        });
  }
  if (!in_shared) return;
  __syncthreads();
  for (int k = thread; k < rows; k += kCountThreads) {
    if (histogram[k] > 0) atomicAdd(of_group + k, static_cast<unsigned long long>(histogram[k]));
  }
}

/// One block per (replica, slice of the partners, tile), one thread per molecule i of the tile;
/// each pair is computed once, with j > i.
template <bool kMSite>
__global__ void __launch_bounds__(kTile)
    energy_kernel(DeviceState d, ClusterSystem system, double* energies) {
  TARN_SHARED(shared, double[kTile]);
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
  const std::int64_t pairs =
      static_cast<std::int64_t>(molecule_pairs(d.molecules)) * counts.most_in_group;
  const auto chunks = static_cast<int>((pairs + kPairsOfBlock - 1) / kPairsOfBlock);
  const std::size_t bytes = 3 * static_cast<std::size_t>(counts.bins) * sizeof(unsigned);
  const bool in_shared = bytes <= kMostSharedBytes;
  launch_kernel(count_kernel, static_cast<unsigned>(counts.groups * (chunks < 1 ? 1 : chunks)),
                kCountThreads, in_shared ? bytes : 0, stream, d, counts, chunks < 1 ? 1 : chunks,
                in_shared);
}

void launch_energy(const DeviceState& d, const ClusterSystem& system, bool m_site, double* energies,
                   cudaStream_t stream) {
  const auto kernel = m_site ? energy_kernel<true> : energy_kernel<false>;
  launch_kernel(kernel, blocks_for(d), kTile, 0, stream, d, system, energies);
}

}  // namespace tarn::gpu
