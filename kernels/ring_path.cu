#include <algorithm>

#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/layout.hpp"
#include "kernels/partner_loop.cuh"

/// @file
/// Ring polymers. On the path ring_block a thread owns one molecule of one mode, with its state in
/// registers, and computes the forces on the same molecule of one bead. The transforms go through
/// shared memory, and a launch runs all steps until the next observation. On the path ring_memory,
/// for more beads or molecules, one kernel computes the forces on all beads, and a second one does
/// everything else: transforms couple the beads of a molecule, and only pairs couple molecules.

namespace tarn::gpu {
namespace {

// --- whole ring polymers in a block --------------------------------------------------------------

/// Coordinates of all molecules and beads (or modes) of a block in shared memory, [pair][slot].
class RingBuffer {
 public:
  __device__ RingBuffer(unsigned char* memory, int slots)
      : memory_(reinterpret_cast<Pair*>(memory)), slots_(slots) {}
  static constexpr std::size_t bytes(int slots) {
    return kPairs * sizeof(Pair) * static_cast<std::size_t>(slots);
  }

  __device__ void put(int slot, const Triple<double>& t) const {
    Pair* const p = memory_ + slot;
    p[0] = {t.o.x, t.o.y};
    p[slots_] = {t.o.z, t.h1.x};
    p[2 * slots_] = {t.h1.y, t.h1.z};
    p[3 * slots_] = {t.h2.x, t.h2.y};
    p[4 * slots_] = {t.h2.z, 0.0};
  }
  __device__ Triple<double> get(int slot) const {
    const Pair* const p = memory_ + slot;
    const Pair a = p[0], b = p[slots_], c = p[2 * slots_], d = p[3 * slots_], e = p[4 * slots_];
    return {
        {a.first, a.second, b.first}, {b.second, c.first, c.second}, {d.first, d.second, e.first}};
  }

 private:
  struct alignas(16) Pair {
    double first, second;
  };
  static constexpr int kPairs = 5;
  Pair* memory_;
  int slots_;
};
static_assert(RingBuffer::bytes(kMostRingThreads) <= 48 * 1024);

/// The place of a thread among the ring polymers of its block.
struct RingPlace {
  std::int64_t replica;  ///< -1: the lane is idle
  int ring;              ///< in the block
  int bead, molecule;    ///< also the number of the mode
};
__device__ RingPlace ring_place(const DeviceState& d, int together) {
  const int thread = static_cast<int>(threadIdx.x);
  const LanePlace place = place_of(thread / kWarpLanes, thread % kWarpLanes, d.molecules,
                                   static_cast<std::int64_t>(together) * d.copies);
  if (place.molecule < 0) return {-1, 0, 0, -1};
  const int copy = static_cast<int>(place.replica), ring = copy / d.copies;
  const std::int64_t replica = static_cast<std::int64_t>(blockIdx.x) * together + ring;
  if (replica >= d.replicas) return {-1, 0, 0, -1};
  return {replica, ring, copy % d.copies, place.molecule};
}

/// The ring polymers of a block; the interface is documented in cluster_program.hpp. A cluster of
/// lanes is a mode and, during the forces, the bead with the same number.
template <bool kTally>
class DeviceRings : public WarpLanes {
 public:
  static constexpr bool kRings = true;

  __device__ DeviceRings(const DeviceState& d, const RingTables& rings, const RingBuffer& buffer,
                         std::uint64_t seed, const RingPlace& place)
      : WarpLanes(static_cast<int>(threadIdx.x) % kWarpLanes, place.molecule, d.molecules),
        d_(d),
        rings_(rings),
        buffer_(buffer),
        seed_(seed),
        place_(place),
        mode_(rings.mode(is_idle() ? 0 : rings.baths[place.replica], place.bead)),
        running_(place.replica >= 0 && d.stopped[place.replica] == 0) {}

  /// Slot of the state; an idle lane has that of another one.
  __device__ std::int64_t slot() const {
    if (place_.replica < 0) return 0;
    return mode_slot(d_, place_.replica, place_.bead, molecule_);
  }
  __device__ bool is_idle() const { return place_.replica < 0; }
  __device__ bool is_running() const { return running_; }

  __device__ ModeNumbers<double> mode() const { return mode_.numbers; }
  __device__ Triple<double> to_beads(const Triple<double>& modes) const {
    const int beads = d_.copies;
    put(modes);
    __syncthreads();
    const Triple<double> part = product(rings_.to_beads, inputs_of_beads(place_.bead, beads));
    __syncthreads();
    put(part);
    __syncthreads();
    return folded(place_.bead, beads, part, get(beads - 1 - place_.bead));
  }
  __device__ Triple<double> to_modes(const Triple<double>& on_beads) const {
    const int beads = d_.copies;
    __syncthreads();
    put(on_beads);
    __syncthreads();
    const Triple<double> part = folded(place_.bead, beads, on_beads, get(beads - 1 - place_.bead));
    __syncthreads();
    put(part);
    __syncthreads();
    return product(rings_.to_modes, inputs_of_modes(place_.bead, beads));
  }

  template <class T>
  __device__ Triple<T> normals(std::int64_t step) const {
    return noise_of<T>(seed_, is_idle() ? 0 : d_.ids[place_.replica],
                       is_idle() ? 0 : place_.bead * d_.molecules + molecule_, step);
  }
  __device__ auto heat_tally() const {
    if constexpr (kTally) {
      return HeatTally{d_.heat == nullptr || is_idle() ? nullptr : d_.heat + slot(), d_.mass_o_Da,
                       d_.mass_h_Da};
    } else {
      return NoTally{};
    }
  }
  __device__ void store_thermal(const Triple<double>& v) const {
    if (running_) store_triple(v, d_.v_thermal, d_.slots, slot());
  }
  __device__ double largest_speed2() const { return kLargestSpeed2 * d_.copies; }
  template <class M>
  __device__ void keep(const M& s) const {
    if (!running_) return;
    keep_state(s, d_, slot());
    keep_heat<kTally>(d_, slot());
  }
  /// All threads of the block call.
  template <class M>
  __device__ void stop(bool bad, std::int64_t step, M& s) {
    bad = bad && running_;
    if (!__syncthreads_or(bad)) return;
    TARN_SHARED(first_bad, int[kMostRingsInBlock]);
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kMostRingsInBlock) first_bad[thread] = kNoMolecule;
    // A block may have fewer threads than that.
    if (thread + kWarpLanes < kMostRingsInBlock) first_bad[thread + kWarpLanes] = kNoMolecule;
    __syncthreads();
    if (bad) atomicMin(&first_bad[place_.ring], molecule_);
    __syncthreads();
    if (!running_ || first_bad[place_.ring] == kNoMolecule) return;
    if (place_.bead == 0 && molecule_ == 0) {
      d_.stopped[place_.replica] = 1;
      d_.blow_step[place_.replica] = step;
      d_.blow_molecule[place_.replica] = first_bad[place_.ring];
    }
    running_ = false;
    s = stopped_state<double>(d_, slot());
  }

  __device__ void begin_stages(std::int64_t step) const { StageClock<kTally>(d_, step).begin(); }
  __device__ void end_stage(Stage stage, std::int64_t step) const {
    StageClock<kTally>(d_, step).end(stage);
  }

 private:
  /// Slot in the buffer.
  __device__ int local(int bead) const {
    return (place_.ring * d_.copies + bead) * d_.molecules + molecule_;
  }
  __device__ void put(const Triple<double>& t) const {
    if (!is_idle()) buffer_.put(local(place_.bead), t);
  }
  __device__ Triple<double> get(int bead) const {
    return is_idle() ? Triple<double>{} : buffer_.get(local(bead));
  }
  __device__ Triple<double> product(const double* table, const RingInputs& inputs) const {
    if (is_idle()) return {};
    return transformed<Triple<double>>(table, d_.copies, place_.bead, inputs,
                                       [&](int k) { return buffer_.get(local(k)); });
  }

  const DeviceState& d_;
  const RingTables& rings_;
  RingBuffer buffer_;
  std::uint64_t seed_;
  RingPlace place_;
  const DeviceMode& mode_;
  bool running_;
};

template <class R, bool kMSite, bool kTally>
__global__ void __launch_bounds__(kMostRingThreads)
    advance_rings_kernel(DeviceState d, RingTables rings, ClusterSystem system,
                         PairParameters<R> pair, int together, std::int64_t first, std::int64_t n) {
  TARN_DYNAMIC_SHARED(memory);
  DeviceRings<kTally> w(d, rings, RingBuffer(memory, together * d.copies * d.molecules),
                        system.step.seed, ring_place(d, together));
  if (!__syncthreads_or(w.is_running())) return;
  MoleculeState<double> s = load_state(d, w.slot());
  Triple<double> unused{};
  advance_cluster<DeviceRings<kTally>, R, kMSite, true>(w, system, pair, first, n, s, unused);
  if (!w.is_idle()) store_state(s, d, w.slot());
}

// --- modes in memory -----------------------------------------------------------------------------

constexpr int kThreads = 256;

/// The modes and beads of one molecule of a ring polymer: the work of a block.
struct MoleculeRing {
  const DeviceState& d;
  const RingTables& rings;
  const DeviceState& beads;
  Vec3<double>* numbers;  ///< in shared memory, [bead or mode]
  int p = d.copies, molecule = static_cast<int>(blockIdx.x % static_cast<unsigned>(d.molecules));
  std::int64_t replica = blockIdx.x / static_cast<unsigned>(d.molecules), first = replica * p;
  /// Beads of other ring polymers in the first warp, so that slots are computed in 32 bits.
  int before = beads.per_warp > 0 ? static_cast<int>(first % beads.per_warp) : 0;
  std::int64_t first_slot = slot_of(first - before, 0, d.molecules, beads.per_warp);

  __device__ std::int64_t bead_slot(int bead) const {
    return first_slot + slot_of(before + bead, molecule, d.molecules, beads.per_warp);
  }
  __device__ std::int64_t slot(int mode) const { return mode_slot(d, replica, mode, molecule); }
  /// Divides the numbers below `count` among the threads.
  template <class Op>
  __device__ void for_each(int count, const Op& op) const {
    const auto threads = static_cast<int>(blockDim.x);
    for (auto k = static_cast<int>(threadIdx.x); k < count; k += threads) op(k);
  }
  __device__ Vec3<double> product(const double* table, int to, const RingInputs& inputs) const {
    return transformed<Vec3<double>>(table, p, to, inputs, [&](int k) { return numbers[k]; });
  }

  /// Also marks the beads. Replicas that this kernel stops get this step number, and are not yet
  /// skipped.
  __device__ bool is_stopped(std::int64_t step) const {
    const int stopped = d.stopped[replica];
    if (molecule == 0) for_each(p, [&](int bead) { beads.stopped[first + bead] = stopped; });
    return stopped != 0 || load_relaxed(d.blow_step[replica]) < step;
  }
  /// Accelerations from the forces on the beads.
  __device__ void accelerate(const Masses<double>& m) const {
    for (int atom = 0; atom < 3; ++atom) {
      const double* const from = beads.f + 3 * atom * beads.slots;
      for_each(even_numbers(p), [&](int j) {
        const int opposite = p - 1 - j;
        const Vec3<double> a = load_vector<double>(from, beads.slots, bead_slot(j));
        const Vec3<double> b = load_vector<double>(from, beads.slots, bead_slot(opposite));
        numbers[j] = folded(j, p, a, b);
        if (opposite != j) numbers[opposite] = folded(opposite, p, b, a);
      });
      __syncthreads();
      const double inverse_mass = atom == 0 ? m.inverse_o : m.inverse_h;
      for_each(p, [&](int k) {
        const Vec3<double> f = product(rings.to_modes, k, inputs_of_modes(k, p));
        store_vector(inverse_mass * f, d.a + 3 * atom * d.slots, d.slots, slot(k));
      });
      __syncthreads();
    }
  }
  __device__ void place_beads() const {
    for (int atom = 0; atom < 3; ++atom) {
      const double* const from = d.x + 3 * atom * d.slots;
      double* const to = beads.x + 3 * atom * beads.slots;
      for_each(p, [&](int k) { numbers[k] = load_vector<double>(from, d.slots, slot(k)); });
      __syncthreads();
      for_each(even_numbers(p), [&](int j) {
        const int opposite = p - 1 - j;
        const auto part = [&](int bead) {
          return product(rings.to_beads, bead, inputs_of_beads(bead, p));
        };
        const Vec3<double> a = part(j), b = opposite == j ? a : part(opposite);
        store_vector(folded(j, p, a, b), to, beads.slots, bead_slot(j));
        if (opposite == j) return;
        store_vector(folded(opposite, p, b, a), to, beads.slots, bead_slot(opposite));
      });
      __syncthreads();
    }
  }
};

__global__ void __launch_bounds__(kThreads)
    place_beads_kernel(DeviceState d, RingTables rings, DeviceState beads) {
  TARN_DYNAMIC_SHARED(memory);
  const MoleculeRing ring{d, rings, beads, reinterpret_cast<Vec3<double>*>(memory)};
  if (!ring.is_stopped(0)) ring.place_beads();
}

template <bool kHeat>
__global__ void __launch_bounds__(kThreads)
    accelerate_rings_kernel(DeviceState d, RingTables rings, DeviceState beads, Masses<double> m,
                            bool prepare, std::int64_t step) {
  TARN_DYNAMIC_SHARED(memory);
  const MoleculeRing ring{d, rings, beads, reinterpret_cast<Vec3<double>*>(memory)};
  if (ring.is_stopped(step)) return;
  ring.accelerate(m);
  ring.for_each(prepare ? ring.p : 0, [&](int k) {
    const std::int64_t slot = ring.slot(k);
    const MoleculeState<double> s = load_state(d, slot);
    keep_state(s, d, slot);
    keep_heat<kHeat>(d, slot);
    mark_if(!has_finite_accelerations(s), d, ring.replica, ring.molecule, step);
  });
}

/// @param end,begin see launch_ring_step()
template <bool kHeat>
__global__ void __launch_bounds__(kThreads)
    step_rings_kernel(DeviceState d, RingTables rings, DeviceState beads, ClusterSystem system,
                      bool end, bool begin, std::int64_t given_step, long long* counter) {
  TARN_DYNAMIC_SHARED(memory);
  const MoleculeRing ring{d, rings, beads, reinterpret_cast<Vec3<double>*>(memory)};
  const std::int64_t step = end ? *counter : given_step;
  if (!end && blockIdx.x == 0 && threadIdx.x == 0) *counter = step;
  if (ring.is_stopped(step)) return;
  if (end) ring.accelerate(system.step.masses);
  const int bath = rings.baths[ring.replica];
  ring.for_each(ring.p, [&](int k) {
    const std::int64_t slot = ring.slot(k);
    const ModeNumbers<double> mode = rings.mode(bath, k).numbers;
    MoleculeState<double> s = load_state(d, slot);
    const auto noise = [&](MoleculeState<double>& at, std::int64_t of_step) {
      const int number = k * d.molecules + ring.molecule;
      ring_noise(mode, noise_of<double>(system.step.seed, d.ids[ring.replica], number, of_step), at,
                 heat_tally<kHeat>(d, slot));
    };
    if (end) {
      kick(s, system.step.h);
      // Checked before the noise, on the same velocities as on the other paths.
      mark_if(is_too_fast(s.v, kLargestSpeed2 * ring.p), d, ring.replica, ring.molecule, step);
      if (system.thermostat == Thermostat::gla) noise(s, step - 1);
    } else if (step % kKeptSteps == 0) {
      keep_state(s, d, slot);
      keep_heat<kHeat>(d, slot);
    }
    if (begin) {
      begin_ring(mode, system.step.h, s, [&](MoleculeState<double>& at) {
        if (system.thermostat != Thermostat::baoab) return;
        noise(at, step);
        store_triple(at.v, d.v_thermal, d.slots, slot);
      });
    }
    store_moved(s, d, slot);
  });
  if (!begin) return;
  __syncthreads();
  ring.place_beads();
}

static_assert(kMaxBeads * sizeof(Vec3<double>) <= 48 * 1024);

/// Launches a kernel with a block for each MoleculeRing.
template <class... Parameters, class... Arguments>
void launch_molecules(void (*kernel)(Parameters...), const RingLaunch& r,
                      const Arguments&... arguments) {
  launch_kernel(kernel, static_cast<unsigned>(r.d.replicas * r.d.molecules),
                std::min(block_threads(r.d.copies), kThreads),
                static_cast<std::size_t>(r.d.copies) * sizeof(Vec3<double>), r.stream, r.d,
                r.tables, r.beads, arguments...);
}

}  // namespace

void launch_ring_advance(const ClusterLaunch& c, const RingTables& rings, std::int64_t first,
                         std::int64_t n) {
  const DeviceState& d = c.d;
  const int together = rings_in_block(d.copies, d.molecules);
  const auto blocks = static_cast<unsigned>((d.replicas + together - 1) / together);
  const int threads = ring_warps(together, d.copies, d.molecules) * kWarpLanes;
  const std::size_t bytes = RingBuffer::bytes(together * d.copies * d.molecules);
  with_pairs(c.precision, c.m_site, [&]<class R, bool kMSite>() {
    with_tally(d, first, n, [&]<bool kTally>(std::int64_t from, std::int64_t steps) {
      launch_kernel(advance_rings_kernel<R, kMSite, kTally>, blocks, threads, bytes, c.stream, d,
                    rings, c.system, rounded_parameters<R>(c.system.pair), together, from, steps);
    });
  });
}

void launch_place_beads(const RingLaunch& r) { launch_molecules(place_beads_kernel, r); }

void launch_ring_accelerations(const RingLaunch& r, const ClusterSystem& system, bool prepare,
                               std::int64_t step) {
  with_heat(r.d, [&]<bool kHeat>() {
    launch_molecules(accelerate_rings_kernel<kHeat>, r, system.step.masses, prepare, step);
  });
}

void launch_ring_step(const RingLaunch& r, const ClusterSystem& system, bool end, bool begin,
                      std::int64_t step, long long* counter) {
  with_heat(r.d, [&]<bool kHeat>() {
    launch_molecules(step_rings_kernel<kHeat>, r, system, end, begin, step, counter);
  });
}
void load_ring_step(const DeviceState& d) {
  with_heat(d, [&]<bool kHeat>() { load_kernel(step_rings_kernel<kHeat>); });
}

}  // namespace tarn::gpu
