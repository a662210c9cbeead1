#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/partner_loop.cuh"

/// @file
/// Clusters of 33 to 128 molecules: a thread block each, positions in shared memory, as many steps
/// a launch as are due. Thread (i, s) takes a part of the pairs of molecule i, slice s of the turns
/// of its strip (layout.hpp); thread (i, 0) owns the molecule.

namespace tarn::gpu {
namespace {

constexpr int kMostThreads = kMostInBlock * kBlockSlices;

/// Shared memory of a block: sites, forces by slice, and a row for sums.
template <class S, class R, bool kMSite>
struct BlockMemory {
  using PackedSite = gpu::PackedSite<R, kMSite>;
  PackedSite* sites;  ///< [thread]
  S* partial;         ///< [slice][9][thread]
  S* sums;            ///< [3][thread]
  int width;          ///< threads along the molecules

  __device__ BlockMemory(unsigned char* memory, int threads) : width(threads) {
    sites = reinterpret_cast<PackedSite*>(memory);
    partial = reinterpret_cast<S*>(sites + threads);
    sums = partial + kBlockSlices * 9 * threads;
  }
  static constexpr std::size_t bytes(int threads) {
    return static_cast<std::size_t>(threads) *
           ((kBlockSlices * 9 + 3) * sizeof(S) + sizeof(PackedSite));
  }
  __device__ S* of_slice(int slice) const { return partial + slice * 9 * width; }
};

/// Sum over the molecules by halving, the same in all threads. All threads of the block call it;
/// those that own no molecule bring zero.
template <class S, class R, bool kMSite>
__device__ Vec3<S> block_sum(const BlockMemory<S, R, kMSite>& memory, const Vec3<S>& mine) {
  S* p = memory.sums + threadIdx.x;
  __syncthreads();
  if (threadIdx.y == 0) {
    p[0] = mine.x;
    p[memory.width] = mine.y;
    p[2 * memory.width] = mine.z;
  }
  int n = memory.width;
  while (n > 1) {
    const int half = (n + 1) / 2;
    __syncthreads();
    if (threadIdx.y == 0 && static_cast<int>(threadIdx.x) + half < n) {
      for (int c = 0; c < 3; ++c) p[c * memory.width] += p[c * memory.width + half];
    }
    n = half;
  }
  __syncthreads();
  return {memory.sums[0], memory.sums[memory.width], memory.sums[2 * memory.width]};
}

/// Forces without the bonds on the molecule of thread (i, 0), at its positions x. All threads call.
template <class S, class R, bool kMSite, class X>
__device__ Triple<S> block_forces(const BlockMemory<S, R, kMSite>& memory,
                                  const SystemNumbers<S>& system, const PairParameters<R>& pair,
                                  const X& x) {
  const int i = static_cast<int>(threadIdx.x), slice = static_cast<int>(threadIdx.y);
  const bool molecule = i < system.molecules, owner = molecule && slice == 0;
  const Masses<S>& m = system.step.masses;
  const Vec3<S> zero{S(0), S(0), S(0)};
  __syncthreads();
  if (slice == 0) {  // threads without a molecule, too: all sites are numbers
    memory.sites[i] =
        packed<R, kMSite>(make_site<PlainNumbers, R, kMSite>(x, system.pair.m_weight));
  }
  __syncthreads();
  Triple<S> f{zero, zero, zero};
  const SharedStrips<S, R, kMSite> cluster{memory.sites, system.molecules, memory.of_slice(slice),
                                           memory.width};
  const Range turns =
      slice_range(slice, kBlockSlices, turns_of_strip(strips_for(system.molecules)));
  add_meetings(pair, system.pair.m_weight, cluster, i / kStrip, i % kStrip, turns, f);
  if (slice > 0) store_triple(f, memory.of_slice(slice), memory.width, i);
  __syncthreads();
  if (owner) {
    for (int s = 1; s < kBlockSlices; ++s) {
      f = f + load_triple<S>(memory.of_slice(s), memory.width, i);
    }
  }
  const S per_molecule = S(1) / static_cast<S>(system.molecules);
  if constexpr (std::is_same_v<R, float>) {
    const Vec3<S> net = per_molecule * block_sum(memory, owner ? total(f) : zero);
    f = remove_net_force(f, net, m);
  }
  if (system.wall.stiffness > S(0)) {
    const Triple<S> at = [&]() -> Triple<S> {
      if constexpr (std::is_same_v<S, double>) {
        return x;
      } else {
        return positions_from(memory.sites[0].vector(0), unpacked(memory.sites[i]));
      }
    }();
    const S share = S(1) / (static_cast<S>(system.molecules) * (m.o + S(2) * m.h));
    const Vec3<S> centre = share * block_sum(memory, owner ? mass_moment(at, m) : zero);
    const Vec3<S> push = owner ? wall_force(at.o - centre, system.wall) : zero;
    f.o = f.o + push;
    f = remove_net_force(f, per_molecule * block_sum(memory, push), m);
  }
  return f;
}

/// Stops the cluster of the block if any of its molecules is bad. All threads call.
__device__ bool block_stop(const DeviceState& d, bool bad, std::int64_t replica,
                           std::int64_t step) {
  __shared__ int first_bad;
  if (threadIdx.x == 0 && threadIdx.y == 0) first_bad = kMostInBlock;
  __syncthreads();
  if (bad) atomicMin(&first_bad, static_cast<int>(threadIdx.x));
  __syncthreads();
  const bool stopped = first_bad < kMostInBlock;
  if (stopped && threadIdx.x == 0 && threadIdx.y == 0) {
    d.stopped[replica] = 1;
    d.blow_step[replica] = step;
    d.blow_molecule[replica] = first_bad;
  }
  __syncthreads();
  return stopped;
}

template <class S, class R, bool kMSite>
__global__ void __launch_bounds__(kMostThreads)
    prepare_blocks_kernel(DeviceState d, SystemNumbers<S> system, PairParameters<R> pair,
                          std::int64_t step, Prepare what) {
  TARN_DYNAMIC_SHARED(memory_bytes);
  const BlockMemory<S, R, kMSite> memory(memory_bytes, static_cast<int>(blockDim.x));
  const std::int64_t replica = blockIdx.x;
  const int i = static_cast<int>(threadIdx.x);
  const bool owner = i < d.molecules && threadIdx.y == 0;
  const std::int64_t slot = replica * d.molecules + i;
  DeviceMolecule<S> s{};
  if (owner) s = load_state<S>(d, slot);
  const Triple<S> f = block_forces<S, R, kMSite>(memory, system, pair, s.x);
  bool bad = false;
  if (owner) {
    store_triple(f, d.f, d.slots, slot);
    if (what == Prepare::accelerations) {
      const Triple<S> v = s.v;
      const bool definite = end_step(system.step, system.passes.end, f, s);
      // c - c is 0 for finite numbers only.
      const Vec3<S> none = total(fma(S(0), s.v, s.a - s.a));
      s.v = v;
      bad = !definite || !(none.x + none.y + none.z == S(0));
      keep_state(s, d, slot);
    }
  }
  if (what == Prepare::forces) return;
  const bool stopped = block_stop(d, bad, replica, step);
  if (!owner) return;
  if (stopped) s = at_rest<S>(d, slot);
  store_state(s, d, slot);
}

template <class S, class R, bool kMSite, bool kHeat>
__global__ void __launch_bounds__(kMostThreads)
    advance_blocks_kernel(DeviceState d, SystemNumbers<S> system, PairParameters<R> pair,
                          std::int64_t first, std::int64_t n) {
  TARN_DYNAMIC_SHARED(memory_bytes);
  const BlockMemory<S, R, kMSite> memory(memory_bytes, static_cast<int>(blockDim.x));
  const std::int64_t replica = blockIdx.x;
  if (d.stopped[replica] != 0) return;
  const int i = static_cast<int>(threadIdx.x);
  const bool owner = i < d.molecules && threadIdx.y == 0;
  const std::int64_t slot = replica * d.molecules + i;
  const std::uint64_t id = d.ids[replica];
  const S kick_scale = static_cast<S>(d.kick_scale[replica]);
  const bool baoab = system.thermostat == Thermostat::baoab;
  DeviceMolecule<S> s{};
  if (owner) s = load_state<S>(d, slot);
  unsigned long long iterations = 0, indefinite = 0;

  for (std::int64_t step = first; step < first + n; ++step) {
    if (owner) {
      if (step % kKeptSteps == 0) {
        keep_state(s, d, slot);
        keep_heat<kHeat>(d, slot);
      }
      StepNote<S> note;
      if (baoab) {
        Triple<S> v_thermal;
        note =
            begin_baoab(system.step, system.passes.move, noise_of<S>(system.step.seed, id, i, step),
                        kick_scale, s, v_thermal, looker<kHeat>(d, slot));
        // To memory at once: it would take registers from the pairs.
        store_triple(v_thermal, d.v_thermal, d.slots, slot);
      } else {
        note = begin_step(system.step, system.passes.move, s);
      }
      poison(note.good, s);
      iterations += static_cast<unsigned long long>(note.iterations);
      if (!is_constrained(system.passes.move)) indefinite += note.good ? 0 : 1;
    }
    const Triple<S> f = block_forces<S, R, kMSite>(memory, system, pair, s.x);
    bool bad = false;
    if (owner) {
      const bool definite = end_step(system.step, system.passes.end, f, s);
      poison(definite, s);
      indefinite += definite ? 0 : 1;
      // Before the noise, so that a replica is judged by the velocities that it had.
      bad = !(weighted_norm2(S(1), S(1), s.v) < static_cast<S>(kLargestSpeed2));
    }
    if (block_stop(d, bad, replica, step + 1)) {
      if (owner) s = at_rest<S>(d, slot);
      break;
    }
    if (owner && system.thermostat == Thermostat::gla) {
      thermostat_step(system.step, system.passes.move, noise_of<S>(system.step.seed, id, i, step),
                      kick_scale, s, looker<kHeat>(d, slot));
    }
  }
  if (owner) store_state(s, d, slot);
  if (threadIdx.y == 0) {
    add_over_warp(iterations, d.iterations);
    add_over_warp(indefinite, d.indefinite);
  }
}

dim3 threads_for(const DeviceState& d) {
  return {static_cast<unsigned>(block_threads(d.molecules)), kBlockSlices, 1};
}

template <class S, class R, bool kMSite>
void prepare(const DeviceState& d, const ClusterSystem& system, std::int64_t step, Prepare what,
             cudaStream_t stream) {
  const dim3 threads = threads_for(d);
  launch_kernel(prepare_blocks_kernel<S, R, kMSite>, static_cast<unsigned>(d.replicas), threads,
                BlockMemory<S, R, kMSite>::bytes(static_cast<int>(threads.x)), stream, d,
                rounded_system<S>(system), rounded_parameters<R>(system.pair), step, what);
}
template <class S, class R, bool kMSite>
void advance(const DeviceState& d, const ClusterSystem& system, std::int64_t first, std::int64_t n,
             cudaStream_t stream) {
  const dim3 threads = threads_for(d);
  with_heat(d, [&]<bool kHeat>() {
    launch_kernel(advance_blocks_kernel<S, R, kMSite, kHeat>, static_cast<unsigned>(d.replicas),
                  threads, BlockMemory<S, R, kMSite>::bytes(static_cast<int>(threads.x)), stream, d,
                  rounded_system<S>(system), rounded_parameters<R>(system.pair), first, n);
  });
}

// The largest block must find its shared memory on every device, without asking for more.
static_assert(BlockMemory<double, double, true>::bytes(kMostInBlock) <= 48 * 1024);

}  // namespace

void launch_block_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                          bool m_site, std::int64_t step, Prepare what, cudaStream_t stream) {
  with_numbers(precision, m_site, [&]<class S, class R, bool kMSite>() {
    prepare<S, R, kMSite>(d, system, step, what, stream);
  });
}

void launch_block_advance(const DeviceState& d, const ClusterSystem& system, Precision precision,
                          bool m_site, std::int64_t first, std::int64_t n, cudaStream_t stream) {
  with_numbers(precision, m_site, [&]<class S, class R, bool kMSite>() {
    advance<S, R, kMSite>(d, system, first, n, stream);
  });
}

}  // namespace tarn::gpu
