#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/partner_loop.cuh"

/// @file
/// Clusters of more than 128 molecules: each step is a row of kernels over all molecules, the pairs
/// in tiles of 64 molecules by a slice of their partners. Slices are added in order.

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;
constexpr int kReduceThreads = 256;

/// One thread a molecule of a replica.
struct MoleculePlace {
  std::int64_t slot, replica;
  int molecule;
  bool there;
};
__device__ MoleculePlace molecule_place(const DeviceState& d) {
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t replica = slot / d.molecules;
  return {slot, replica, static_cast<int>(slot - replica * d.molecules), slot < d.slots};
}

/// The sites of all molecules, by slot.
template <class R>
__device__ SiteArray<R, std::int64_t> all_sites(const DeviceState& d, const TileScratch& scratch) {
  return {static_cast<R*>(scratch.sites), d.slots};
}

/// Partial forces of a slice.
template <class S>
__device__ S* partial_forces(const DeviceState& d, const TileScratch& scratch, int slice) {
  return static_cast<S*>(scratch.partial) + static_cast<std::int64_t>(slice) * 9 * d.slots;
}

/// Kick, drift and the sites; with `prepare` the sites only.
template <class S, class R, bool kMSite>
__global__ void __launch_bounds__(kThreads)
    begin_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch, bool prepare) {
  const MoleculePlace p = molecule_place(d);
  unsigned long long iterations = 0, indefinite = 0;
  if (p.there) {
    DeviceMolecule<S> s = load_state<S>(d, p.slot);
    if (!prepare && d.stopped[p.replica] == 0) {
      const std::int64_t step = *scratch.step;
      if (step % kKeptSteps == 0) keep_state(s, d, p.slot);
      StepNote<S> note;
      if (system.thermostat == Thermostat::baoab) {
        const Triple<S> xi = noise_of<S>(system.step.seed, d.ids[p.replica], p.molecule, step);
        Triple<S> v_thermal;
        note = begin_baoab(system.step, system.passes.move, xi,
                           static_cast<S>(d.kick_scale[p.replica]), s, v_thermal);
        store_triple(v_thermal, d.v_thermal, d.slots, p.slot);
      } else {
        note = begin_step(system.step, system.passes.move, s);
      }
      poison(note.good, s);
      iterations = static_cast<unsigned long long>(note.iterations);
      if (!is_constrained(system.passes.move)) indefinite = note.good ? 0 : 1;
      store_moved(s, d, p.slot);
    }
    store_site<R, kMSite>(make_site<PlainNumbers, R, kMSite>(s.x, system.pair.m_weight),
                          all_sites<R>(d, scratch), p.slot);
  }
  add_over_warp(iterations, d.iterations);
  add_over_warp(indefinite, d.indefinite);
}

/// Partial forces of one tile: block (replica, slice, tile), thread i of the tile.
template <class S, class R, bool kMSite>
__global__ void __launch_bounds__(kTile)
    pairs_kernel(DeviceState d, PairParameters<R> pair, S m_weight, TileScratch scratch) {
  __shared__ R shared[kSiteComponents * kTile];
  const SiteArray<R> partners{shared, kTile};
  const PairTile block = pair_tile(blockIdx.x, d.molecules);
  const std::int64_t replica = block.replica;
  if (d.stopped[replica] != 0) return;
  const int i = block.tile * kTile + static_cast<int>(threadIdx.x);
  const bool molecule = i < d.molecules;
  const std::int64_t first_slot = replica * d.molecules;
  const SiteArray<R, std::int64_t> sites = all_sites<R>(d, scratch);
  const ClusterSite<R> own = load_site<R, kMSite>(sites, first_slot + (molecule ? i : 0));
  SiteForces<S> sum = no_site_forces<S>();
  const Range range = slice_range(block.slice, tile_slices(d.molecules), d.molecules);
  for (int first = range.first; first < range.last; first += kTile) {
    const int left = range.last - first;
    const int count = left < kTile ? left : kTile;
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < count) {
      store_site<R, kMSite>(
          load_site<R, kMSite>(sites, first_slot + first + static_cast<int>(threadIdx.x)), partners,
          static_cast<int>(threadIdx.x));
    }
    __syncthreads();
    add_partners<R, kMSite>(pair, own, partners, 0, count, i - first, sum);
  }
  if (!molecule) return;
  store_triple(forces_on_atoms<kMSite>(sum, m_weight), partial_forces<S>(d, scratch, block.slice),
               d.slots, first_slot + i);
}

template <class S>
__global__ void __launch_bounds__(kThreads) sum_slices_kernel(DeviceState d, TileScratch scratch) {
  const MoleculePlace p = molecule_place(d);
  if (!p.there || d.stopped[p.replica] != 0) return;
  const int slices = tile_slices(d.molecules);
  Triple<S> f = load_triple<S>(partial_forces<S>(d, scratch, 0), d.slots, p.slot);
  for (int s = 1; s < slices; ++s) {
    f = f + load_triple<S>(partial_forces<S>(d, scratch, s), d.slots, p.slot);
  }
  store_triple(f, d.f, d.slots, p.slot);
}

/// Sum over the threads of a block by halving, the same in all threads.
template <class S>
__device__ Vec3<S> reduce(S (&shared)[3][kReduceThreads], const Vec3<S>& mine) {
  const int t = static_cast<int>(threadIdx.x);
  __syncthreads();
  shared[0][t] = mine.x;
  shared[1][t] = mine.y;
  shared[2][t] = mine.z;
  for (int n = kReduceThreads / 2; n > 0; n /= 2) {
    __syncthreads();
    if (t < n) {
      for (auto& row : shared) row[t] += row[t + n];
    }
  }
  __syncthreads();
  return {shared[0][0], shared[1][0], shared[2][0]};
}

/// Positions of a molecule as the wall takes them: with a state of floats from the cell of the
/// cluster's first molecule, whose slot is `first`.
template <class S>
__device__ Triple<S> wall_positions(const DeviceState& d, const TileScratch& scratch,
                                    std::int64_t first, std::int64_t slot) {
  if constexpr (std::is_same_v<S, double>) {
    return load_triple(d.x, d.slots, slot);
  } else {
    const SiteArray<S, std::int64_t> sites = all_sites<S>(d, scratch);
    return positions_from(sites.vector(0, first), load_site<S, false>(sites, slot));
  }
}

/// Net force, centre of mass and net push of the wall of each replica: a block each, thread t takes
/// molecules t, t + 256, ...
template <class S>
__global__ void __launch_bounds__(kReduceThreads)
    cluster_sums_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch) {
  __shared__ S shared[3][kReduceThreads];
  const std::int64_t replica = blockIdx.x;
  if (d.stopped[replica] != 0) return;
  const std::int64_t first = replica * d.molecules;
  const Masses<S>& m = system.step.masses;
  Vec3<S> net{S(0), S(0), S(0)}, moment = net, push = net;
  for (int k = static_cast<int>(threadIdx.x); k < d.molecules; k += kReduceThreads) {
    net = net + total(load_triple<S>(d.f, d.slots, first + k));
    moment = moment + mass_moment(wall_positions<S>(d, scratch, first, first + k), m);
  }
  net = reduce(shared, net);
  const S share = S(1) / (static_cast<S>(d.molecules) * (m.o + S(2) * m.h));
  const Vec3<S> centre = share * reduce(shared, moment);
  for (int k = static_cast<int>(threadIdx.x); k < d.molecules; k += kReduceThreads) {
    const Vec3<S> o = wall_positions<S>(d, scratch, first, first + k).o;
    push = push + wall_force(o - centre, system.wall);
  }
  push = reduce(shared, push);
  if (threadIdx.x == 0) {
    double* out = scratch.sums + replica * kTileSums;
    const Vec3<S> all[3] = {net, centre, push};
    for (int v = 0; v < 3; ++v) {
      out[3 * v] = all[v].x;
      out[3 * v + 1] = all[v].y;
      out[3 * v + 2] = all[v].z;
    }
  }
}

/// What is done: a step, accelerations at the start, forces at the positions or those of a step.
enum class Finish { step, prepare, forces, step_forces };
TARN_HD constexpr bool stops_at_forces(Finish what) {
  return what == Finish::forces || what == Finish::step_forces;
}

/// Judges a molecule at the end of a step, or of the preparation, and stores it.
/// @param v the velocities before the second kick, which the preparation keeps
template <class S>
__device__ void end_molecule(const DeviceState& d, const MoleculePlace& p, bool prepare,
                             bool definite, const Triple<S>& v, DeviceMolecule<S>& s) {
  bool bad = false;
  if (prepare) {
    // c - c is 0 for finite numbers only.
    const Vec3<S> none = total(fma(S(0), s.v, s.a - s.a));
    s.v = v;
    bad = !definite || !(none.x + none.y + none.z == S(0));
    keep_state(s, d, p.slot);
  } else {
    poison(definite, s);
    bad = !(weighted_norm2(S(1), S(1), s.v) < static_cast<S>(kLargestSpeed2));
  }
  if (bad) atomicMin(d.blow_molecule + p.replica, p.molecule);
  store_state(s, d, p.slot);
}

/// What is left of the forces, the solve and the second kick.
template <class S>
__global__ void __launch_bounds__(kThreads)
    finish_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch, bool float_pairs,
                  Finish what) {
  const MoleculePlace p = molecule_place(d);
  unsigned long long indefinite = 0;
  if (p.there && d.stopped[p.replica] == 0) {
    DeviceMolecule<S> s = load_state<S>(d, p.slot);
    const Masses<S>& m = system.step.masses;
    Triple<S> f = load_triple<S>(d.f, d.slots, p.slot);
    const S per_molecule = S(1) / static_cast<S>(d.molecules);
    const double* sums = scratch.sums + p.replica * kTileSums;
    const auto vector = [&](int v) -> Vec3<S> {
      return {static_cast<S>(sums[3 * v]), static_cast<S>(sums[3 * v + 1]),
              static_cast<S>(sums[3 * v + 2])};
    };
    if (float_pairs) f = remove_net_force(f, per_molecule * vector(0), m);
    if (system.wall.stiffness > S(0)) {
      const std::int64_t first = p.replica * d.molecules;
      const Vec3<S> o = wall_positions<S>(d, scratch, first, p.slot).o;
      f.o = f.o + wall_force(o - vector(1), system.wall);
      f = remove_net_force(f, per_molecule * vector(2), m);
    }
    store_triple(f, d.f, d.slots, p.slot);
    if (!stops_at_forces(what)) {
      const Triple<S> v = s.v;
      const bool definite = end_step(system.step, system.passes.end, f, s);
      indefinite = definite ? 0 : 1;
      end_molecule(d, p, what == Finish::prepare, definite, v, s);
    }
  }
  if (what == Finish::step) add_over_warp(indefinite, d.indefinite);
}

/// The end of a step whose accelerations were solved densely.
__global__ void __launch_bounds__(kThreads)
    solved_kernel(DeviceState d, ClusterSystem system, DenseWork work, bool prepare) {
  const MoleculePlace p = molecule_place(d);
  unsigned long long indefinite = 0;
  if (p.there && d.stopped[p.replica] == 0) {
    MoleculeState<double> s = load_state(d, p.slot);
    const bool total = work.hessian == Hessian::total;
    const bool definite = work.info[total ? p.replica : p.slot] == 0;
    indefinite = definite || (total && p.molecule > 0) ? 0 : 1;
    const Triple<double> v = s.v;
    s.a = load_triple(work.right + 9 * p.slot, 1, 0);
    kick(s, system.step.h);
    end_molecule(d, p, prepare, definite, v, s);
  }
  if (!prepare) add_over_warp(indefinite, d.indefinite);
}

/// The end of a step whose accelerations are there.
__global__ void __launch_bounds__(kThreads)
    kick_kernel(DeviceState d, ClusterSystem system, bool prepare) {
  const MoleculePlace p = molecule_place(d);
  if (!p.there || d.stopped[p.replica] != 0) return;
  MoleculeState<double> s = load_state(d, p.slot);
  const Triple<double> v = s.v;
  kick(s, system.step.h);
  end_molecule(d, p, prepare, true, v, s);
}

/// Puts replicas that went bad to rest; the noise after the step for the others.
template <class S>
__global__ void __launch_bounds__(kThreads)
    close_kernel(DeviceState d, SystemNumbers<S> system, TileScratch scratch, bool prepare) {
  const MoleculePlace p = molecule_place(d);
  if (!p.there || d.stopped[p.replica] != 0) return;
  const bool stop = d.blow_molecule[p.replica] < kNoMolecule;
  if (!stop && (prepare || system.thermostat != Thermostat::gla)) return;
  const std::int64_t step = *scratch.step;
  DeviceMolecule<S> s = load_state<S>(d, p.slot);
  if (stop) {
    s = at_rest<S>(d, p.slot);
    if (p.molecule == 0) d.blow_step[p.replica] = prepare ? step : step + 1;
  } else {
    thermostat_step(system.step, system.passes.move,
                    noise_of<S>(system.step.seed, d.ids[p.replica], p.molecule, step),
                    static_cast<S>(d.kick_scale[p.replica]), s);
  }
  store_state(s, d, p.slot);
}

/// After every thread has seen them: marks stopped replicas, and counts the step on.
__global__ void __launch_bounds__(kThreads)
    count_on_kernel(DeviceState d, TileScratch scratch, bool prepare) {
  const std::int64_t replica = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (replica < d.replicas && d.blow_molecule[replica] < kNoMolecule) d.stopped[replica] = 1;
  if (replica == 0 && !prepare) ++*scratch.step;
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

template <class S>
void close_step(const DeviceState& d, const SystemNumbers<S>& system, const TileScratch& scratch,
                bool prepare, cudaStream_t stream) {
  launch_kernel(close_kernel<S>, blocks_for(d.slots), kThreads, 0, stream, d, system, scratch,
                prepare);
  launch_kernel(count_on_kernel, blocks_for(d.replicas), kThreads, 0, stream, d, scratch, prepare);
}

template <class S, class R, bool kMSite>
void run(const DeviceState& d, const ClusterSystem& system, const TileScratch& scratch, Finish what,
         cudaStream_t stream) {
  constexpr bool float_pairs = std::is_same_v<R, float>;
  const SystemNumbers<S> numbers = rounded_system<S>(system);
  const bool prepare = what == Finish::prepare || what == Finish::forces;
  const unsigned all = blocks_for(d.slots);
  launch_kernel(begin_kernel<S, R, kMSite>, all, kThreads, 0, stream, d, numbers, scratch, prepare);
  const std::int64_t blocks = d.replicas * pair_tiles(d.molecules);
  launch_kernel(pairs_kernel<S, R, kMSite>, static_cast<unsigned>(blocks), kTile, 0, stream, d,
                rounded_parameters<R>(system.pair), numbers.pair.m_weight, scratch);
  launch_kernel(sum_slices_kernel<S>, all, kThreads, 0, stream, d, scratch);
  if (float_pairs || system.wall.stiffness > S(0)) {
    launch_kernel(cluster_sums_kernel<S>, static_cast<unsigned>(d.replicas), kReduceThreads, 0,
                  stream, d, numbers, scratch);
  }
  launch_kernel(finish_kernel<S>, all, kThreads, 0, stream, d, numbers, scratch, float_pairs, what);
  if (!stops_at_forces(what)) close_step(d, numbers, scratch, prepare, stream);
}

void run_any(const DeviceState& d, const ClusterSystem& system, Precision precision, bool m_site,
             const TileScratch& scratch, Finish what, cudaStream_t stream) {
  with_numbers(precision, m_site, [&]<class S, class R, bool kMSite>() {
    run<S, R, kMSite>(d, system, scratch, what, stream);
  });
}

}  // namespace

void launch_tile_prepare(const DeviceState& d, const ClusterSystem& system, Precision precision,
                         bool m_site, const TileScratch& scratch, Prepare what,
                         cudaStream_t stream) {
  run_any(d, system, precision, m_site, scratch,
          what == Prepare::forces ? Finish::forces : Finish::prepare, stream);
}

void launch_tile_forces(const DeviceState& d, const ClusterSystem& system, Precision precision,
                        bool m_site, const TileScratch& scratch, bool begin, cudaStream_t stream) {
  run_any(d, system, precision, m_site, scratch, begin ? Finish::step_forces : Finish::forces,
          stream);
}

void launch_tile_solved(const DeviceState& d, const ClusterSystem& system,
                        const TileScratch& scratch, const DenseWork& work, bool prepare,
                        cudaStream_t stream) {
  launch_kernel(solved_kernel, blocks_for(d.slots), kThreads, 0, stream, d, system, work, prepare);
  close_step(d, system, scratch, prepare, stream);
}

void launch_tile_kick(const DeviceState& d, const ClusterSystem& system, const TileScratch& scratch,
                      bool prepare, cudaStream_t stream) {
  launch_kernel(kick_kernel, blocks_for(d.slots), kThreads, 0, stream, d, system, prepare);
  close_step(d, system, scratch, prepare, stream);
}

void launch_tile_step(const DeviceState& d, const ClusterSystem& system, Precision precision,
                      bool m_site, const TileScratch& scratch, cudaStream_t stream) {
  run_any(d, system, precision, m_site, scratch, Finish::step, stream);
}

}  // namespace tarn::gpu
