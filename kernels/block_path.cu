#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/partner_loop.cuh"

/// @file
/// Block path, for 33 to 128 molecules: one thread block per cluster, positions in shared memory. A
/// launch runs all steps until the next observation. Thread (i, r) computes slice r of the pairs of
/// molecule i, or all slices one after another if r = 0 is the only row (layout.hpp); thread (i, 0)
/// owns the molecule.

namespace tarn::gpu {
namespace {

constexpr int kMostThreads = kBlockWarps * kWarpLanes;

/// Sums over a cluster during one step; each has its own shared memory, which saves barriers.
enum SumNumber { kNetForce, kCentre, kPush, kSums };

/// Shared memory of a block: sites, forces by row, and partial sums.
template <class S, class R, bool kMSite>
struct BlockMemory {
  using PackedSite = gpu::PackedSite<R, kMSite>;
  PackedSite* sites;  ///< [thread]
  S* partial;         ///< [row][9][thread of the row]; twice as large if there is one row
  S* sums;            ///< [sum][warp][3]
  int width;          ///< threads per row

  __device__ explicit BlockMemory(unsigned char* memory) : width(static_cast<int>(blockDim.x)) {
    sites = reinterpret_cast<PackedSite*>(memory);
    partial = reinterpret_cast<S*>(sites + width);
    sums = partial + parts(static_cast<int>(blockDim.y)) * 9 * width;
  }
  TARN_HD static constexpr int parts(int rows) { return rows == 1 ? 2 : rows; }
  static constexpr std::size_t bytes(int threads, int rows) {
    return static_cast<std::size_t>(threads) * (parts(rows) * 9 * sizeof(S) + sizeof(PackedSite)) +
           kSums * (kMostInBlock / kWarpLanes) * 3 * sizeof(S);
  }
  /// Forces on the partners of a row.
  __device__ S* of_row(int row) const { return partial + row * 9 * width; }
  /// Sum of the slices of a row; separate from of_row() if one row computes several slices.
  __device__ S* sum_of(int row, int rows) const { return of_row(rows == 1 ? 1 : row); }
};

/// Sum over the molecules: over each warp by halving, then over the warps. All threads of the block
/// call; threads of row 0 without a molecule pass zero, and values of other rows are ignored.
template <class S, class R, bool kMSite>
__device__ Vec3<S> block_sum(const BlockMemory<S, R, kMSite>& memory, SumNumber number,
                             const Vec3<S>& mine) {
  const Vec3<S> of_warp = sum_over_warp(mine);
  S* const parts = memory.sums + number * (kMostInBlock / kWarpLanes) * 3;
  if (threadIdx.y == 0 && threadIdx.x % kWarpLanes == 0) {
    store_vector(of_warp, parts, 1, threadIdx.x / kWarpLanes * 3);
  }
  __syncthreads();
  Vec3<S> sum = load_vector<S>(parts, 1, 0);
  for (int w = 1; w < memory.width / kWarpLanes; ++w) sum = sum + load_vector<S>(parts, 1, 3 * w);
  return sum;
}

/// Forces, without those of the bonds, on the molecule of thread (i, 0) at its positions x; the
/// result of other threads is undefined. All threads call, with a block barrier between calls.
template <class S, class R, bool kMSite, class X>
__device__ Triple<S> block_forces(const BlockMemory<S, R, kMSite>& memory,
                                  const SystemNumbers<S>& system, const PairParameters<R>& pair,
                                  const X& x) {
  const int i = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int rows = static_cast<int>(blockDim.y);
  const bool owner = row == 0 && molecule_of_thread(i, system.molecules) >= 0;
  const Masses<S>& m = system.step.masses;
  const Vec3<S> zero{S(0), S(0), S(0)};
  if (row == 0) {  // threads without a molecule too: all sites must be finite
    memory.sites[i] =
        packed<R, kMSite>(make_site<PlainNumbers, R, kMSite>(x, system.pair.m_weight));
  }
  __syncthreads();
  const int strips = strips_for(system.molecules), size = strip_size(system.molecules);
  const SharedStrips<S, R, kMSite> cluster{memory.sites, system.molecules,   strips,
                                           size,         memory.of_row(row), memory.width};
  const int slices = block_slices(system.molecules);
  S* const sum = memory.sum_of(row, rows);
  for (int slice = row; slice < slices; slice += rows) {
    const Range turns = slice_range(slice, slices, turns_of_strip(strips, size));
    Triple<S> f{zero, zero, zero};
    add_meetings(pair, system.pair.m_weight, cluster, i / kStrip, i % kStrip, turns, f);
    if (slice > row) f = load_triple<S>(sum, memory.width, i) + f;
    store_triple(f, sum, memory.width, i);
  }
  __syncthreads();
  Triple<S> f{zero, zero, zero};
  if (owner) {
    f = load_triple<S>(sum, memory.width, i);
    for (int r = 1; r < rows; ++r) f = f + load_triple<S>(memory.of_row(r), memory.width, i);
  }
  const S per_molecule = S(1) / static_cast<S>(system.molecules);
  if constexpr (std::is_same_v<R, float>) {
    const Vec3<S> net = per_molecule * block_sum(memory, kNetForce, total(f));
    f = remove_net_force(f, net, m);
  }
  if (system.outside.act()) {
    const Triple<S> at = [&]() -> Triple<S> {
      if constexpr (std::is_same_v<S, double>) {
        return x;
      } else {
        return positions_from(memory.sites[0].vector(0), unpacked(memory.sites[i]));
      }
    }();
    const S share = S(1) / (static_cast<S>(system.molecules) * (m.o + S(2) * m.h));
    const Vec3<S> centre = share * block_sum(memory, kCentre, owner ? mass_moment(at, m) : zero);
    const Vec3<S> push = owner ? wall_force(at.o - centre, system.outside) : zero;
    f = with_field(f, system.outside);
    f.o = f.o + push;
    f = remove_net_force(f, per_molecule * block_sum(memory, kPush, push), m);
  }
  return f;
}

/// Stops the cluster of the block if any of its molecules is bad. All threads of the block call.
__device__ bool block_stop(const DeviceState& d, bool bad, std::int64_t replica, int molecule,
                           std::int64_t step) {
  if (!__syncthreads_or(bad)) return false;
  TARN_SHARED(first_bad, int);
  if (threadIdx.x == 0 && threadIdx.y == 0) first_bad = kMostInBlock;
  __syncthreads();
  if (bad) atomicMin(&first_bad, molecule);
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    d.stopped[replica] = 1;
    d.blow_step[replica] = step;
    d.blow_molecule[replica] = first_bad;
  }
  return true;
}

template <class S, class R, bool kMSite, bool kFlexible>
__global__ void __launch_bounds__(kMostThreads)
    prepare_blocks_kernel(DeviceState d, SystemNumbers<S> system, PairParameters<R> pair,
                          std::int64_t step, Prepare what) {
  TARN_DYNAMIC_SHARED(memory_bytes);
  const BlockMemory<S, R, kMSite> memory(memory_bytes);
  const std::int64_t replica = blockIdx.x;
  const int i = molecule_of_thread(static_cast<int>(threadIdx.x), d.molecules);
  const bool owner = i >= 0 && threadIdx.y == 0;
  const std::int64_t slot = replica * d.molecules + i;
  DeviceMolecule<S> s{};
  if (owner) s = load_state<S>(d, slot);
  const Triple<S> f = block_forces<S, R, kMSite>(memory, system, pair, s.x);
  bool bad = false;
  if (owner) {
    store_triple(f, d.f, d.slots, slot);
    if (what == Prepare::accelerations) {
      const Triple<S> v = s.v;
      const bool definite = end_step_of<kFlexible>(system.step, system.passes.end, f, s);
      bad = !definite || !has_finite_accelerations(s);
      s.v = v;
      keep_state(s, d, slot);
    }
  }
  if (what == Prepare::forces) return;
  const bool stopped = block_stop(d, bad, replica, i, step);
  if (!owner) return;
  if (stopped) s = stopped_state<S>(d, slot);
  store_state(s, d, slot);
}

/// Forces on the beads of ring polymers, with those of the bonds.
/// @param step if not null, incremented
template <class R, bool kMSite>
__global__ void __launch_bounds__(kMostThreads)
    block_bead_forces_kernel(DeviceState d, ClusterSystem system, PairParameters<R> pair,
                             long long* step) {
  TARN_DYNAMIC_SHARED(memory_bytes);
  const BlockMemory<double, R, kMSite> memory(memory_bytes);
  if (step != nullptr && blockIdx.x == 0 && threadIdx.x == 0 && threadIdx.y == 0) ++*step;
  const int i = molecule_of_thread(static_cast<int>(threadIdx.x), d.molecules);
  const bool owner = i >= 0 && threadIdx.y == 0;
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * d.molecules + i;
  Triple<double> x{};
  if (owner) x = load_triple(d.x, d.slots, slot);
  const Triple<double> f = block_forces<double, R, kMSite>(memory, system, pair, x);
  if (!owner) return;
  store_triple(f + intramolecular_force(x, system.step.flexible), d.f, d.slots, slot);
}

template <class S, class R, bool kMSite, bool kFlexible, bool kTally>
__global__ void __launch_bounds__(kMostThreads)
    advance_blocks_kernel(DeviceState d, SystemNumbers<S> system, PairParameters<R> pair,
                          std::int64_t first, std::int64_t n) {
  TARN_DYNAMIC_SHARED(memory_bytes);
  const BlockMemory<S, R, kMSite> memory(memory_bytes);
  const std::int64_t replica = blockIdx.x;
  if (d.stopped[replica] != 0) return;
  const int i = molecule_of_thread(static_cast<int>(threadIdx.x), d.molecules);
  const bool owner = i >= 0 && threadIdx.y == 0;
  const std::int64_t slot = replica * d.molecules + i;
  const std::uint64_t id = d.ids[replica];
  const S kick_scale = static_cast<S>(d.kick_scale[replica]);
  const bool baoab = system.thermostat == Thermostat::baoab;
  DeviceMolecule<S> s{};
  if (owner) s = load_state<S>(d, slot);
  unsigned long long iterations = 0, indefinite = 0;

  for (std::int64_t step = first; step < first + n; ++step) {
    if (owner && step % kKeptSteps == 0) {
      keep_state(s, d, slot);
      keep_heat<kTally>(d, slot);
    }
    StageClock<kTally>(d, step).begin();
    if (owner) {
      StepStatus<S> status;
      if (baoab) {
        Triple<S> v_thermal;
        const Triple<S> noise = noise_of<S>(system.step.seed, id, i, step);
        StageClock<kTally>(d, step).end(Stage::noise);
        status = begin_baoab(system.step, system.passes.move, noise, kick_scale, s, v_thermal,
                             heat_tally<kTally>(d, slot));
        // Stored at once to free registers for the pair loop.
        store_triple(v_thermal, d.v_thermal, d.slots, slot);
      } else {
        status = begin_step(system.step, system.passes.move, s);
      }
      poison(status.good, s);
      iterations += static_cast<unsigned long long>(status.iterations);
      if (!is_constrained(system.passes.move)) indefinite += status.good ? 0 : 1;
    }
    StageClock<kTally>(d, step).end(first_stage(system.passes.move));
    const Triple<S> f = block_forces<S, R, kMSite>(memory, system, pair, s.x);
    StageClock<kTally>(d, step).end(Stage::pairs);
    bool bad = false;
    if (owner) {
      const bool definite = end_step_of<kFlexible>(system.step, system.passes.end, f, s);
      poison(definite, s);
      indefinite += definite ? 0 : 1;
      // Checked before the noise, on the same velocities in all schemes.
      bad = is_too_fast(s.v);
    }
    if (block_stop(d, bad, replica, i, step + 1)) {
      if (owner) s = stopped_state<S>(d, slot);
      break;
    }
    StageClock<kTally>(d, step).end(Stage::bonds);
    if (owner && system.thermostat == Thermostat::gla) {
      thermostat_step(system.step, system.passes.move, noise_of<S>(system.step.seed, id, i, step),
                      kick_scale, s, heat_tally<kTally>(d, slot));
      StageClock<kTally>(d, step).end(Stage::noise);
    }
  }
  if (owner) store_state(s, d, slot);
  if (threadIdx.y == 0) {
    add_over_warp(iterations, d.iterations);
    add_over_warp(indefinite, d.indefinite);
  }
}

/// Threads and shared memory of a block.
template <class S, class R, bool kMSite>
struct BlockShape {
  dim3 threads;
  std::size_t bytes;

  BlockShape(int molecules, int rows)
      : threads(static_cast<unsigned>(block_threads(molecules)), static_cast<unsigned>(rows)),
        bytes(BlockMemory<S, R, kMSite>::bytes(block_threads(molecules), rows)) {}
};

// The largest block must fit into the default shared memory of every device.
static_assert(BlockMemory<double, double, true>::bytes(kMostInBlock, block_slices(kMostInBlock)) <=
              48 * 1024);

}  // namespace

void launch_block_prepare(const ClusterLaunch& c, std::int64_t step, Prepare what) {
  with_cluster(c.system, c.precision, c.m_site,
               [&]<class S, class R, bool kMSite, bool kFlexible>() {
                 const BlockShape<S, R, kMSite> block(c.d.molecules, c.rows);
                 launch_kernel(prepare_blocks_kernel<S, R, kMSite, kFlexible>,
                               static_cast<unsigned>(c.d.replicas), block.threads, block.bytes,
                               c.stream, c.d, rounded_system<S>(c.system),
                               rounded_parameters<R>(c.system.pair), step, what);
               });
}

void launch_block_bead_forces(const ClusterLaunch& c, long long* step) {
  with_pairs(c.precision, c.m_site, [&]<class R, bool kMSite>() {
    const BlockShape<double, R, kMSite> block(c.d.molecules, c.rows);
    launch_kernel(block_bead_forces_kernel<R, kMSite>, static_cast<unsigned>(c.d.replicas),
                  block.threads, block.bytes, c.stream, c.d, c.system,
                  rounded_parameters<R>(c.system.pair), step);
  });
}

void launch_block_advance(const ClusterLaunch& c, std::int64_t first, std::int64_t n) {
  with_cluster(c.system, c.precision, c.m_site,
               [&]<class S, class R, bool kMSite, bool kFlexible>() {
                 const BlockShape<S, R, kMSite> block(c.d.molecules, c.rows);
                 with_tally(c.d, first, n, [&]<bool kTally>(std::int64_t from, std::int64_t steps) {
                   launch_kernel(advance_blocks_kernel<S, R, kMSite, kFlexible, kTally>,
                                 static_cast<unsigned>(c.d.replicas), block.threads, block.bytes,
                                 c.stream, c.d, rounded_system<S>(c.system),
                                 rounded_parameters<R>(c.system.pair), from, steps);
                 });
               });
}

}  // namespace tarn::gpu
