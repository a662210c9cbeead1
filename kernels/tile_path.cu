#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/partner_loop.cuh"

/// @file
/// Tile path, for more than 128 molecules. A step has two kernels. pairs_kernel computes each pair
/// once, in blocks of a band of molecules times a slice of their partners (layout.hpp). step_kernel
/// adds the partial forces in a fixed order, ends the step and begins the next one. A replica that
/// blows up is skipped from the next step on, and its kept state is restored after the last step of
/// the launch.

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;
constexpr int kWallThreads = 256;
constexpr int kMostChunkThreads = kSumParts * kChunk;

/// The molecule of a thread.
struct MoleculePlace {
  std::int64_t slot, replica;
  int molecule;
  bool there;
};
__device__ MoleculePlace molecule_place(const DeviceState& d) {
  const std::int64_t slot = thread_number();
  const std::int64_t replica = slot / d.molecules;
  return {slot, replica, static_cast<int>(slot - replica * d.molecules), slot < d.slots};
}

/// The sites of all molecules, [slot].
static_assert(sizeof(PackedSite<double, true>) <= kMostSiteBytes);
template <class R, bool kMSite>
__device__ PackedSite<R, kMSite>* all_sites(const TileScratch& scratch) {
  return static_cast<PackedSite<R, kMSite>*>(scratch.sites);
}
template <class S, class R, bool kMSite>
__device__ void store_site(const DeviceMolecule<S>& s, const SystemNumbers<S>& system,
                           const TileScratch& scratch, std::int64_t slot) {
  all_sites<R, kMSite>(scratch)[slot] =
      packed<R, kMSite>(make_site<PlainNumbers, R, kMSite>(s.x, system.pair.m_weight));
}

/// Partial forces of a row, [9][slot].
template <class S>
__device__ S* partial_forces(const DeviceState& d, const TileScratch& scratch, int row) {
  return static_cast<S*>(scratch.partial) + static_cast<std::int64_t>(row) * 9 * d.slots;
}

/// Begins a step: kick, drift and, with BAOAB, the noise in between; then stores the sites.
template <class S, class R, bool kMSite, bool kHeat>
__device__ void begin_molecule(const DeviceState& d, const SystemNumbers<S>& system,
                               const TileScratch& scratch, const MoleculePlace& p,
                               std::int64_t step, DeviceMolecule<S>& s, StepStatus<S>& status) {
  if (system.thermostat == Thermostat::baoab) {
    const Triple<S> xi = noise_of<S>(system.step.seed, d.ids[p.replica], p.molecule, step);
    Triple<S> v_thermal;
    status =
        begin_baoab(system.step, system.passes.move, xi, static_cast<S>(d.kick_scale[p.replica]), s,
                    v_thermal, heat_tally<kHeat>(d, p.slot));
    store_triple(v_thermal, d.v_thermal, d.slots, p.slot);
  } else {
    status = begin_step(system.step, system.passes.move, s);
  }
  poison(status.good, s);
  store_site<S, R, kMSite>(s, system, scratch, p.slot);
}

/// Statistics of a thread. The counts of the beginning of a step are stored in memory and added at
/// its end, so that steps that a stopped replica did not complete are not counted.
struct StepCounts {
  unsigned long long iterations = 0, indefinite = 0;

  template <class S>
  __device__ static void store_begin(const StepStatus<S>& status, Move move, unsigned& begun) {
    if (move == Move::free) return;
    const unsigned bad = is_constrained(move) || status.good ? 0 : 1;
    begun = 2 * static_cast<unsigned>(status.iterations) + bad;
  }
  __device__ void add_begin(unsigned begun, Move move) {
    if (move == Move::free) return;
    iterations += begun / 2;
    indefinite += begun % 2;
  }
  /// All threads of the warp call.
  __device__ void add_to(const DeviceState& d) const {
    add_over_warp(iterations, d.iterations);
    add_over_warp(indefinite, d.indefinite);
  }
};

/// Stores the sites at the current positions.
template <class S, class R, bool kMSite>
__global__ void __launch_bounds__(kThreads)
    sites_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch) {
  const MoleculePlace p = molecule_place(d);
  if (p.there) store_site<S, R, kMSite>(load_state<S>(d, p.slot), system, scratch, p.slot);
}

/// Keeps the state at every kKeptSteps-th step, and begins the step.
template <class S, class R, bool kMSite, bool kHeat>
__global__ void __launch_bounds__(kThreads)
    begin_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch, std::int64_t step) {
  const MoleculePlace p = molecule_place(d);
  if (p.slot == 0) *scratch.step = step;
  if (p.there && d.stopped[p.replica] == 0) {
    DeviceMolecule<S> s = load_state<S>(d, p.slot);
    if (step % kKeptSteps == 0) {
      keep_state(s, d, p.slot);
      keep_heat<kHeat>(d, p.slot);
    }
    StepStatus<S> status;
    begin_molecule<S, R, kMSite, kHeat>(d, system, scratch, p, step, s, status);
    StepCounts::store_begin(status, system.passes.move, scratch.begun[p.slot]);
    store_moved(s, d, p.slot);
  }
}

/// Sum over a band; valid in its first thread. All threads of the block call.
template <class S>
__device__ Vec3<S> sum_over_band(Vec3<S> a) {
  TARN_SHARED(of_warp, S[kBandStrips][3]);
  a = sum_over_warp(a);
  const int t = static_cast<int>(threadIdx.x);
  if (t % kWarpLanes == 0) store_vector(a, of_warp[t / kWarpLanes], 1, 0);
  __syncthreads();
  for (int w = 1; w < kBandStrips; ++w) a = a + load_vector<S>(of_warp[w], 1, 0);
  return a;
}

/// Resident blocks of pairs_kernel per multiprocessor: four in float and three in double. If there
/// are few blocks (few_pair_blocks()), one less is faster: with more registers the roots of a pair
/// overlap better.
template <class R, bool kFew>
inline constexpr int kPairBlocksAtOnce = (std::is_same_v<R, float> ? 4 : 3) - (kFew ? 1 : 0);

/// Partial forces; one block per (replica, slice, band), one thread per molecule of the band. With
/// pairs in float also their sum over the block.
/// @param of_step whether to increment the step number; no other kernel reads it at the same time
template <class S, class R, bool kMSite, bool kFew>
__global__ void __launch_bounds__(kBand, kPairBlocksAtOnce<R, kFew>)
    pairs_kernel(DeviceState d, PairParameters<R> pair, S m_weight, TileScratch scratch,
                 bool of_step) {
  TARN_SHARED(shared_sites, PackedSite<R, kMSite>[kBand]);
  TARN_SHARED(rows, S[9][kBand]);
  launch_dependents();
  wait_for_previous_kernel();
  const int t = static_cast<int>(threadIdx.x), strip = t / kStrip, lane = t % kStrip;
  if (of_step && blockIdx.x == 0 && t == 0) ++*scratch.step;
  const int n = d.molecules;
  const PairBlock block = pair_block(blockIdx.x, n);
  if (d.stopped[block.replica] != 0) return;
  const std::int64_t first_slot = block.replica * n;
  const PackedSite<R, kMSite>* const sites = all_sites<R, kMSite>(scratch) + first_slot;
  const int size = strip_size(n), begin = block.band * band_size(n);
  const int i = begin + strip * size + lane, strips = strips_of_band(block.band, n);
  const bool has_lane = lane < size, there = has_lane && i < n;
  const PackedSite<R, kMSite> mine = sites[there ? i : begin];  // one copy, in loads of 16 bytes
  const PairWork work = pair_work(block.band, block.slice, n);
  const Vec3<S> zero{S(0), S(0), S(0)};
  Triple<S> f{zero, zero, zero};
  Vec3<S> net = zero;
  if (work.own_turns.first < work.own_turns.last) {
    shared_sites[t] = mine;
    __syncthreads();
    const SharedStrips<S, R, kMSite> band{shared_sites, n - begin,   strips,
                                          size,         &rows[0][0], kBand};
    add_meetings(pair, m_weight, band, strip, lane, work.own_turns, f);
  }
  const PairSite<R> own = unpacked(mine);
  for (int k = work.meetings.first; k < work.meetings.last; ++k) {
    const BandMeeting with = band_meeting(k, block.band, n);
    if (with.count == 0) continue;
    __syncthreads();
    if (strip == 0) shared_sites[lane] = sites[with.first + (lane < with.count ? lane : 0)];
    __syncthreads();
    if (strip < strips) {
      const Meeting<R> g =
          meet_strip(pair, own, shared_sites, size, with.count, with.turns, there ? size : 0);
      f = f + forces_on_atoms<kMSite>(as_sums<PlainNumbers, S>(g.own), m_weight);
      if (has_lane) {
        store_triple(forces_on_atoms<kMSite>(as_sums<PlainNumbers, S>(g.partner), m_weight),
                     &rows[0][0], kBand,
                     kStrip * strip + partner_of_turn(lane, with.turns.last, size));
      }
    }
    __syncthreads();
    if (t < with.count) {
      Triple<S> g = load_triple<S>(&rows[0][0], kBand, t);
      for (int s = 1; s < strips; ++s) {
        g = g + load_triple<S>(&rows[0][0], kBand, kStrip * s + t);
      }
      store_triple(g, partial_forces<S>(d, scratch, with.row), d.slots,
                   first_slot + with.first + t);
      net = net + total(g);
    }
  }
  if (there) {
    store_triple(f, partial_forces<S>(d, scratch, block.slice), d.slots, first_slot + i);
    net = net + total(f);
  }
  if constexpr (std::is_same_v<R, float>) {
    net = sum_over_band(net);
    if (t == 0) store_vector(net, static_cast<S*>(scratch.net), 1, std::int64_t{3} * blockIdx.x);
  }
}

/// Sum over the threads of a block by halving; the same in all threads.
template <class S, int threads>
__device__ Vec3<S> reduce(S (&shared)[3][threads], const Vec3<S>& mine) {
  const int t = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  __syncthreads();
  shared[0][t] = mine.x;
  shared[1][t] = mine.y;
  shared[2][t] = mine.z;
  for (int n = threads / 2; n > 0; n /= 2) {
    __syncthreads();
    if (t < n) {
      for (auto& row : shared) row[t] += row[t + n];
    }
  }
  __syncthreads();
  return {shared[0][0], shared[1][0], shared[2][0]};
}

/// Positions of a molecule for the wall; with a state in float relative to the cell `origin`.
template <class S, class R, bool kMSite>
__device__ Triple<S> wall_positions(const DeviceState& d, const TileScratch& scratch,
                                    const Vec3<S>& origin, std::int64_t slot) {
  if constexpr (std::is_same_v<S, double>) {
    return load_triple(d.x, d.slots, slot);
  } else {
    return positions_from(origin, unpacked(all_sites<R, kMSite>(scratch)[slot]));
  }
}

/// Sums over a replica that the wall needs.
template <class S>
struct Wall {
  Vec3<S> origin;  ///< cell of the first molecule; unused for a state in double
  Vec3<S> centre;  ///< of mass
  Vec3<S> push;    ///< net force of the wall

  __device__ static Wall load(const TileScratch& scratch, std::int64_t replica) {
    const auto at = [&](int k) {
      return load_vector<S>(scratch.wall, 1, replica * kWallNumbers + k);
    };
    return {at(0), at(3), at(6)};
  }
  __device__ void store(const TileScratch& scratch, std::int64_t replica) const {
    store_triple(Triple<S>{origin, centre, push}, scratch.wall, 1, replica * kWallNumbers);
  }
};
static_assert(kWallNumbers == 9);

/// One block per replica; thread t takes molecules t, t + 256, ...
template <class S, class R, bool kMSite>
__global__ void __launch_bounds__(kWallThreads)
    wall_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch) {
  TARN_SHARED(shared, S[3][kWallThreads]);
  const std::int64_t replica = blockIdx.x;
  if (d.stopped[replica] != 0) return;
  const std::int64_t first = replica * d.molecules;
  const Masses<S>& m = system.step.masses;
  Wall<S> wall{};
  if constexpr (std::is_same_v<S, float>) {
    wall.origin = all_sites<R, kMSite>(scratch)[first].vector(0);
  }
  Vec3<S> moment{S(0), S(0), S(0)}, push = moment;
  for (int k = static_cast<int>(threadIdx.x); k < d.molecules; k += kWallThreads) {
    moment =
        moment + mass_moment(wall_positions<S, R, kMSite>(d, scratch, wall.origin, first + k), m);
  }
  const S share = S(1) / (static_cast<S>(d.molecules) * (m.o + S(2) * m.h));
  wall.centre = share * reduce(shared, moment);
  for (int k = static_cast<int>(threadIdx.x); k < d.molecules; k += kWallThreads) {
    const Vec3<S> o = wall_positions<S, R, kMSite>(d, scratch, wall.origin, first + k).o;
    push = push + wall_force(o - wall.centre, system.outside);
  }
  wall.push = reduce(shared, push);
  if (threadIdx.x == 0) wall.store(scratch, replica);
}

/// Thread (i, r) of a block has molecule i of a chunk, and computes part r of its sums (or all).
__device__ MoleculePlace chunk_place(const DeviceState& d) {
  const MoleculeChunk chunk = molecule_chunk(blockIdx.x, d.molecules);
  const int molecule = chunk.first + static_cast<int>(threadIdx.x);
  return {chunk.replica * d.molecules + molecule, chunk.replica, molecule, molecule < d.molecules};
}

/// The force on a molecule without the sums over the replica.
template <class S>
struct SummedForce {
  Triple<S> f;
  Vec3<S> net;  ///< with pairs in float: a part of the net force that rounding leaves

  __device__ void add(const SummedForce& other) {
    f = f + other.f;
    net = net + other.net;
  }
};

/// Numbers of a SummedForce with pairs in R.
template <class R>
inline constexpr int kSumNumbers = std::is_same_v<R, float> ? 12 : 9;

/// Part `part` of kSumParts of the sum over the rows and, with pairs in float, of the net force.
template <class S, class R>
__device__ SummedForce<S> sum_part(const DeviceState& d, const TileScratch& scratch,
                                   const MoleculePlace& p, int part) {
  const Vec3<S> zero{S(0), S(0), S(0)};
  SummedForce<S> sum{{zero, zero, zero}, zero};
  if constexpr (std::is_same_v<R, float>) {
    const int blocks = pair_blocks(d.molecules);
    const S* const of_block = static_cast<const S*>(scratch.net) + p.replica * blocks * 3;
    for (int b = part * kChunk + static_cast<int>(threadIdx.x); b < blocks;
         b += kSumParts * kChunk) {
      sum.net = sum.net + Vec3<S>{of_block[3 * b], of_block[3 * b + 1], of_block[3 * b + 2]};
    }
  }
  if (!p.there) return sum;
  const Range rows = slice_range(part, kSumParts, force_rows(d.molecules));
  const int slices = force_slices(d.molecules), band = p.molecule / band_size(d.molecules);
  // Several independent loads at a time hide their latency.
  constexpr int kAtOnce = 6;
  for (int row = rows.first; row < rows.last; row += kAtOnce) {
    Triple<S> loaded[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) {
      const int at = row + k;
      loaded[k] = {zero, zero, zero};
      if (at < rows.last && (at < slices || has_row(at, band, d.molecules))) {
        loaded[k] = load_triple<S>(partial_forces<S>(d, scratch, at), d.slots, p.slot);
      }
    }
    for (int k = 0; k < kAtOnce; ++k) sum.f = sum.f + loaded[k];
  }
  return sum;
}

/// Shared memory of whole_force() in bytes.
template <class S, class R>
constexpr std::size_t summing_bytes(int rows) {
  return (rows - 1) * kSumNumbers<R> * kChunk * sizeof(S);
}
/// Adds the rows, subtracts the net force that rounding leaves, and adds the wall. All threads of a
/// block call; the result is valid for threads with y = 0.
template <class S, class R, bool kMSite>
__device__ Triple<S> whole_force(const DeviceState& d, const SystemNumbers<S>& system,
                                 const TileScratch& scratch, const MoleculePlace& p) {
  TARN_DYNAMIC_SHARED(memory);
  constexpr bool floats = std::is_same_v<R, float>;
  const int i = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int rows = static_cast<int>(blockDim.y);
  SummedForce<S> sum = sum_part<S, R>(d, scratch, p, row);
  if (rows == 1) {
    for (int part = 1; part < kSumParts; ++part) sum.add(sum_part<S, R>(d, scratch, p, part));
  } else {
    const auto of_row = [&](int r) {
      return reinterpret_cast<S*>(memory) + (r - 1) * kSumNumbers<R> * kChunk;
    };
    if (row > 0) {
      store_triple(sum.f, of_row(row), kChunk, i);
      if constexpr (floats) store_vector(sum.net, of_row(row) + 9 * kChunk, kChunk, i);
    }
    __syncthreads();
    if (row > 0) return sum.f;
    for (int r = 1; r < kSumParts; ++r) {
      SummedForce<S> part{load_triple<S>(of_row(r), kChunk, i), {}};
      if constexpr (floats) part.net = load_vector<S>(of_row(r) + 9 * kChunk, kChunk, i);
      sum.add(part);
    }
  }
  Triple<S> f = sum.f;
  const Masses<S>& m = system.step.masses;
  const S per_molecule = S(1) / static_cast<S>(d.molecules);
  if constexpr (floats) f = remove_net_force(f, per_molecule * sum_over_warp(sum.net), m);
  if (p.there && system.outside.act()) {
    const Wall<S> wall = Wall<S>::load(scratch, p.replica);
    const Vec3<S> o = wall_positions<S, R, kMSite>(d, scratch, wall.origin, p.slot).o;
    f = with_field(f, system.outside);
    f.o = f.o + wall_force(o - wall.centre, system.outside);
    f = remove_net_force(f, per_molecule * wall.push, m);
  }
  if (p.there && scratch.bias != nullptr) f.o = f.o + load_vector<S>(scratch.bias, 1, 3 * p.slot);
  return f;
}

/// Checks the velocities at the end of a step, before the noise, then adds the noise (GLA).
/// @param step number of the state at the end of the step
template <bool kHeat, class S>
__device__ void end_molecule(const DeviceState& d, const SystemNumbers<S>& system,
                             const MoleculePlace& p, bool definite, std::int64_t step,
                             DeviceMolecule<S>& s) {
  poison(definite, s);
  mark_if(is_too_fast(s.v), d, p.replica, p.molecule, step);
  if (system.thermostat == Thermostat::gla) {
    thermostat_step(system.step, system.passes.move,
                    noise_of<S>(system.step.seed, d.ids[p.replica], p.molecule, step - 1),
                    static_cast<S>(d.kick_scale[p.replica]), s, heat_tally<kHeat>(d, p.slot));
  }
}
/// The same for the initial accelerations: restores the velocities v.
template <class S>
__device__ void end_preparation(const DeviceState& d, const MoleculePlace& p, bool definite,
                                const Triple<S>& v, std::int64_t step, DeviceMolecule<S>& s) {
  const bool bad = !definite || !has_finite_accelerations(s);
  s.v = v;
  keep_state(s, d, p.slot);
  mark_if(bad, d, p.replica, p.molecule, step);
}

/// Stores the forces, for solvers of accelerations and for observers.
template <class S, class R, bool kMSite>
__global__ void __launch_bounds__(kMostChunkThreads)
    forces_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch) {
  const MoleculePlace p = chunk_place(d);
  if (d.stopped[p.replica] != 0) return;
  const Triple<S> f = whole_force<S, R, kMSite>(d, system, scratch, p);
  if (p.there && threadIdx.y == 0) store_triple(f, d.f, d.slots, p.slot);
}

/// Initial accelerations.
template <class S, class R, bool kMSite, bool kFlexible>
__global__ void __launch_bounds__(kMostChunkThreads)
    prepare_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch, std::int64_t step) {
  const MoleculePlace p = chunk_place(d);
  if (d.stopped[p.replica] != 0) return;
  const Triple<S> f = whole_force<S, R, kMSite>(d, system, scratch, p);
  if (!p.there || threadIdx.y > 0) return;
  DeviceMolecule<S> s = load_state<S>(d, p.slot);
  const Triple<S> v = s.v;
  const bool definite = end_step_of<kFlexible>(system.step, system.passes.end, f, s);
  end_preparation(d, p, definite, v, step, s);
  store_state(s, d, p.slot);
}

/// Ends a step and begins the next one.
template <class S, class R, bool kMSite, bool kFlexible, bool kHeat>
__global__ void __launch_bounds__(kMostChunkThreads)
    step_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch, bool begin_next) {
  wait_for_previous_kernel();
  const MoleculePlace p = chunk_place(d);
  const std::int64_t step = *scratch.step;
  // Replicas that this kernel stops get this step number: they are not yet skipped here.
  if (load_relaxed(d.blow_step[p.replica]) < step) return;
  // Loaded before the forces to overlap the latencies.
  DeviceMolecule<S> s{};
  if (p.there && threadIdx.y == 0) s = load_state<S>(d, p.slot);
  const Triple<S> f = whole_force<S, R, kMSite>(d, system, scratch, p);
  launch_dependents();  // not earlier: waiting blocks of pairs would occupy this kernel's resources
  if (threadIdx.y > 0) return;
  StepCounts counts;
  if (p.there) {
    const bool definite = end_step_of<kFlexible>(system.step, system.passes.end, f, s);
    counts.indefinite += definite ? 0 : 1;
    counts.add_begin(scratch.begun[p.slot], system.passes.move);
    end_molecule<kHeat>(d, system, p, definite, step, s);
    if (begin_next) {
      StepStatus<S> status;
      begin_molecule<S, R, kMSite, kHeat>(d, system, scratch, p, step, s, status);
      StepCounts::store_begin(status, system.passes.move, scratch.begun[p.slot]);
    }
    store_state(s, d, p.slot);
  }
  counts.add_to(d);
}

/// Ends a step whose accelerations were solved by DenseSolver or, without its results, are in d.a.
template <bool kHeat>
__global__ void __launch_bounds__(kThreads)
    solved_kernel(DeviceState d, ClusterSystem system, DenseWork work, std::int64_t step,
                  bool prepare) {
  const MoleculePlace p = molecule_place(d);
  StepCounts counts;
  if (p.there && d.stopped[p.replica] == 0) {
    MoleculeState<double> s = load_state(d, p.slot);
    const Triple<double> v = s.v;
    bool definite = true;
    if (work.right != nullptr) {
      const bool total = work.hessian == Hessian::total;
      definite = work.info[total ? p.replica : p.slot] == 0;
      if (!prepare && !definite && !(total && p.molecule > 0)) counts.indefinite = 1;
      s.a = load_triple(work.right + dense_right(p.slot, d.molecules, total), 1, 0);
    }
    kick(s, system.step.h);
    if (prepare) {
      end_preparation(d, p, definite, v, step, s);
    } else {
      end_molecule<kHeat>(d, system, p, definite, step + 1, s);
    }
    store_state(s, d, p.slot);
  }
  counts.add_to(d);
}

/// Restores the kept positions of replicas that blew up, and marks them stopped.
__global__ void __launch_bounds__(kThreads) restore_stopped_kernel(DeviceState d) {
  const MoleculePlace p = molecule_place(d);
  const std::int64_t replica = p.replica / d.copies;
  if (!p.there || d.blow_molecule[replica] == kNoMolecule) return;
  store_state(stopped_state<double>(d, p.slot), d, p.slot);
  if (p.molecule == 0) d.stopped[replica] = 1;
}

unsigned chunks_of(const DeviceState& d) {
  return static_cast<unsigned>(d.replicas * molecule_chunks(d.molecules));
}
template <class S, class R>
struct ChunkShape {
  dim3 threads;
  std::size_t bytes;

  explicit ChunkShape(const TileScratch& scratch)
      : threads(kChunk, static_cast<unsigned>(scratch.sum_rows)),
        bytes(summing_bytes<S, R>(scratch.sum_rows)) {}
};
static_assert(summing_bytes<double, float>(kSumParts) <= 48 * 1024);

/// Calls op(step_kernel) for the molecules of a system, with or without heat.
template <class S, class R, bool kMSite, class Op>
void with_step_kernel(const ClusterLaunch& c, const Op& op) {
  with_bonds(c.system, [&]<bool kFlexible>() {
    with_heat(c.d, [&]<bool kHeat>() { op(step_kernel<S, R, kMSite, kFlexible, kHeat>); });
  });
}

static_assert(force_rows(kMostManyBodyMolecules) == 1);
/// Launches the partial forces at the stored sites, and the sums of the wall.
template <class S, class R, bool kMSite>
void launch_pairs(const ClusterLaunch& c, const TileScratch& scratch, bool of_step) {
  if (scratch.bias != nullptr) {
    launch_biases(c.d, c.system.biases, scratch.bias, DeviceState{}, c.stream);
  }
  if (c.stage != nullptr) {
    c.stage->compute(c.d, static_cast<double*>(scratch.partial), of_step ? scratch.step : nullptr,
                     c.stream);
    return;
  }
  const SystemNumbers<S> numbers = rounded_system<S>(c.system);
  const std::int64_t blocks = c.d.replicas * pair_blocks(c.d.molecules);
  const auto kernel =
      scratch.few_blocks ? pairs_kernel<S, R, kMSite, true> : pairs_kernel<S, R, kMSite, false>;
  launch_early(of_step && scratch.early, kernel, static_cast<unsigned>(blocks), kBand, 0, c.stream,
               c.d, rounded_parameters<R>(c.system.pair), numbers.pair.m_weight, scratch, of_step);
  if (c.system.outside.act()) {
    launch_kernel(wall_kernel<S, R, kMSite>, static_cast<unsigned>(c.d.replicas), kWallThreads, 0,
                  c.stream, c.d, numbers, scratch);
  }
}

}  // namespace

void launch_tile_prepare(const ClusterLaunch& c, const TileScratch& scratch, std::int64_t step,
                         Prepare what) {
  with_numbers(c.precision, c.m_site, [&]<class S, class R, bool kMSite>() {
    const SystemNumbers<S> numbers = rounded_system<S>(c.system);
    launch_threads(sites_kernel<S, R, kMSite>, c.d.slots, kThreads, c.stream, c.d, numbers,
                   scratch);
    if (what == Prepare::forces) return;
    launch_pairs<S, R, kMSite>(c, scratch, false);
    const ChunkShape<S, R> chunk(scratch);
    with_bonds(c.system, [&]<bool kFlexible>() {
      launch_kernel(prepare_kernel<S, R, kMSite, kFlexible>, chunks_of(c.d), chunk.threads,
                    chunk.bytes, c.stream, c.d, numbers, scratch, step);
    });
  });
  if (what == Prepare::forces) return launch_tile_forces(c, scratch);
  launch_tile_restore_stopped(c.d, c.stream);
}

void launch_tile_begin(const ClusterLaunch& c, const TileScratch& scratch, std::int64_t step) {
  with_numbers(c.precision, c.m_site, [&]<class S, class R, bool kMSite>() {
    with_heat(c.d, [&]<bool kHeat>() {
      launch_threads(begin_kernel<S, R, kMSite, kHeat>, c.d.slots, kThreads, c.stream, c.d,
                     rounded_system<S>(c.system), scratch, step);
    });
  });
}

void launch_tile_step(const ClusterLaunch& c, const TileScratch& scratch, bool begin_next,
                      const std::function<void()>& after_pairs) {
  with_numbers(c.precision, c.m_site, [&]<class S, class R, bool kMSite>() {
    launch_pairs<S, R, kMSite>(c, scratch, true);
    if (after_pairs) after_pairs();
    const ChunkShape<S, R> chunk(scratch);
    with_step_kernel<S, R, kMSite>(c, [&](auto kernel) {
      launch_early(scratch.early && !c.system.outside.act(), kernel, chunks_of(c.d), chunk.threads,
                   chunk.bytes, c.stream, c.d, rounded_system<S>(c.system), scratch, begin_next);
    });
  });
}

bool tile_kernels_support_early_launch() {
  return load_kernel(restore_stopped_kernel).ptxVersion >= 90;
}

void load_tile_step(const ClusterLaunch& c) {
  with_numbers(c.precision, c.m_site, [&]<class S, class R, bool kMSite>() {
    with_step_kernel<S, R, kMSite>(c, [](auto kernel) { load_kernel(kernel); });
  });
}

void launch_tile_forces(const ClusterLaunch& c, const TileScratch& scratch) {
  with_numbers(c.precision, c.m_site, [&]<class S, class R, bool kMSite>() {
    launch_pairs<S, R, kMSite>(c, scratch, false);
    const ChunkShape<S, R> chunk(scratch);
    launch_kernel(forces_kernel<S, R, kMSite>, chunks_of(c.d), chunk.threads, chunk.bytes, c.stream,
                  c.d, rounded_system<S>(c.system), scratch);
  });
}

void launch_tile_solved(const DeviceState& d, const ClusterSystem& system, const DenseWork& work,
                        std::int64_t step, bool prepare, cudaStream_t stream) {
  with_heat(d, [&]<bool kHeat>() {
    launch_threads(solved_kernel<kHeat>, d.slots, kThreads, stream, d, system, work, step, prepare);
  });
  launch_tile_restore_stopped(d, stream);
}

void launch_tile_restore_stopped(const DeviceState& d, cudaStream_t stream) {
  launch_threads(restore_stopped_kernel, d.slots, kThreads, stream, d);
}

}  // namespace tarn::gpu
