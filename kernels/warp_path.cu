#include "kernels/launch.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/many_body.hpp"
#include "kernels/partner_loop.cuh"

/// @file
/// Warp path, for up to 32 molecules: one molecule per lane, several clusters per warp. A launch
/// runs all steps until the next observation. The loop over steps stores only kept states and
/// counts.

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;

/// A warp of the device; the interface is documented in cluster_program.hpp.
template <bool kTally>
class DeviceWarp : public WarpLanes {
 public:
  static constexpr bool kRings = false;

  __device__ DeviceWarp(const DeviceState& d, std::uint64_t seed, std::int64_t warp, int lane)
      : DeviceWarp(d, seed, warp, lane, place_of(warp, lane, d.molecules, d.replicas)) {}
  __device__ DeviceWarp(const DeviceState& d, std::uint64_t seed, std::int64_t warp, int lane,
                        const LanePlace& place)
      : WarpLanes(lane, place.molecule, d.molecules),
        d_(d),
        seed_(seed),
        replica_(place.replica),
        slot_(warp * kWarpLanes + lane) {
    const std::int64_t source = replica_ < 0 ? 0 : replica_;
    id_ = d.ids[source];
    kick_scale_ = molecule_ < 0 ? 0.0 : d.kick_scale[source];
    running_ = molecule_ >= 0 && d.stopped[source] == 0;
    const unsigned cluster_mask = d.molecules == kWarpLanes ? kAllLanes : (1u << d.molecules) - 1u;
    cluster_mask_ = molecule_ < 0 ? 0 : cluster_mask << first();
    // All lanes must have read the flag before one of them stops its cluster.
    __syncwarp();
  }

  __device__ std::int64_t slot() const { return slot_; }
  __device__ static double largest_speed2() { return kLargestSpeed2; }
  template <class T>
  __device__ Triple<T> normals(std::int64_t step) const {
    return noise_of<T>(seed_, id_, molecule_ < 0 ? 0 : molecule_, step);
  }
  template <class T>
  __device__ T kick_scale() const {
    return static_cast<T>(kick_scale_);
  }
  __device__ auto heat_tally() const { return gpu::heat_tally<kTally>(d_, slot_); }
  /// Keeps the state, unless the replica was stopped.
  template <class M>
  __device__ void keep(const M& s) {
    if (!running_) return;
    keep_state(s, d_, slot_);
    keep_heat<kTally>(d_, slot_);
  }
  /// Whether no lane has a molecule of a running replica; the same in all lanes.
  __device__ bool idle() const { return __ballot_sync(kAllLanes, running_) == 0; }
  template <class M>
  __device__ void stop(bool bad, std::int64_t step, M& s) {
    const unsigned bad_lanes = __ballot_sync(kAllLanes, bad && running_) & cluster_mask_;
    if (bad_lanes == 0) return;
    if (molecule_ == 0) {
      d_.stopped[replica_] = 1;
      d_.blow_step[replica_] = step;
      d_.blow_molecule[replica_] = __ffs(static_cast<int>(bad_lanes)) - 1 - lane_;
    }
    running_ = false;
    s = stopped_state<decltype(s.v.o.x)>(d_, slot_);
  }
  template <class T>
  __device__ void record(const StepStatus<T>& status) {
    if (running_) iterations_ += static_cast<unsigned long long>(status.iterations);
  }
  __device__ void indefinite(bool definite) { indefinite_ += running_ && !definite; }

  __device__ void begin_stages(std::int64_t step) const { StageClock<kTally>(d_, step).begin(); }
  __device__ void end_stage(Stage stage, std::int64_t step) const {
    StageClock<kTally>(d_, step).end(stage);
  }

  /// Adds the statistics of the launch to those in memory.
  __device__ void finish() const {
    add_over_warp(iterations_, d_.iterations);
    add_over_warp(indefinite_, d_.indefinite);
  }

 private:
  const DeviceState& d_;
  std::uint64_t seed_, id_;
  std::int64_t replica_, slot_;
  unsigned cluster_mask_;
  double kick_scale_;
  bool running_;
  unsigned long long iterations_ = 0, indefinite_ = 0;
};

__device__ std::int64_t warp_number() { return thread_number() / kWarpLanes; }
__device__ int lane_number() { return static_cast<int>(threadIdx.x) % kWarpLanes; }

template <class S, class R, bool kMSite, bool kFlexible>
__global__ void __launch_bounds__(kThreads)
    prepare_warps_kernel(DeviceState d, SystemNumbers<S> system, PairParameters<R> pair,
                         std::int64_t step, Prepare what) {
  const std::int64_t warp = warp_number();
  if (warp * kWarpLanes >= d.slots) return;
  DeviceWarp<false> w(d, system.step.seed, warp, lane_number());
  DeviceMolecule<S> s = load_state<S>(d, w.slot());
  Triple<S> f;
  if (what == Prepare::forces) {
    f = cluster_forces<DeviceWarp<false>, R, kMSite>(w, system, pair, s.x);
  } else {
    prepare_cluster<DeviceWarp<false>, R, kMSite, kFlexible>(w, system, pair, step, s, f);
    store_state(s, d, w.slot());
    w.finish();
  }
  store_triple(f, d.f, d.slots, w.slot());
}

/// Resident blocks per multiprocessor with 65536 registers. With pairs in float one more block is
/// worth a few spills outside the pair loop.
template <class S, class R>
inline constexpr int kBlocksAtOnce = std::is_same_v<S, float>   ? 4
                                     : std::is_same_v<R, float> ? 3
                                                                : 2;

template <class S, class R, bool kMSite, bool kFlexible, bool kTally>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<S, R>)
    advance_warps_kernel(DeviceState d, SystemNumbers<S> system, PairParameters<R> pair,
                         std::int64_t first, std::int64_t n) {
  const std::int64_t warp = warp_number();
  if (warp * kWarpLanes >= d.slots) return;
  DeviceWarp<kTally> w(d, system.step.seed, warp, lane_number());
  if (w.idle()) return;
  DeviceMolecule<S> s = load_state<S>(d, w.slot());
  Triple<S> v_thermal = s.v;
  advance_cluster<DeviceWarp<kTally>, R, kMSite, kFlexible>(w, system, pair, first, n, s,
                                                            v_thermal);
  store_state(s, d, w.slot());
  if (d.v_thermal != nullptr) store_triple(v_thermal, d.v_thermal, d.slots, w.slot());
  w.finish();
}

/// Forces on the beads of ring polymers, with those of the bonds.
/// @param step if not null, incremented
template <class R, bool kMSite>
__global__ void __launch_bounds__(kThreads)
    bead_forces_kernel(DeviceState d, ClusterSystem system, PairParameters<R> pair,
                       long long* step) {
  const std::int64_t warp = warp_number();
  if (step != nullptr && warp == 0 && threadIdx.x == 0) ++*step;
  if (warp * kWarpLanes >= d.slots) return;
  const int lane = lane_number();
  const WarpLanes w(lane, place_of(warp, lane, d.molecules, d.replicas).molecule, d.molecules);
  const std::int64_t slot = warp * kWarpLanes + lane;
  const Triple<double> x = load_triple(d.x, d.slots, slot);
  const Triple<double> f = bead_forces<WarpLanes, R, kMSite>(w, system, pair, x);
  store_triple(f, d.f, d.slots, slot);
}

}  // namespace

void launch_warp_prepare(const ClusterLaunch& c, std::int64_t step, Prepare what) {
  with_cluster(c.system, c.precision, c.m_site,
               [&]<class S, class R, bool kMSite, bool kFlexible>() {
                 launch_threads(prepare_warps_kernel<S, R, kMSite, kFlexible>, c.d.slots, kThreads,
                                c.stream, c.d, rounded_system<S>(c.system),
                                rounded_parameters<R>(c.system.pair), step, what);
               });
}

void launch_warp_advance(const ClusterLaunch& c, std::int64_t first, std::int64_t n) {
  with_cluster(c.system, c.precision, c.m_site,
               [&]<class S, class R, bool kMSite, bool kFlexible>() {
                 with_tally(c.d, first, n, [&]<bool kTally>(std::int64_t from, std::int64_t steps) {
                   launch_threads(advance_warps_kernel<S, R, kMSite, kFlexible, kTally>, c.d.slots,
                                  kThreads, c.stream, c.d, rounded_system<S>(c.system),
                                  rounded_parameters<R>(c.system.pair), from, steps);
                 });
               });
}

void launch_bead_forces(const ClusterLaunch& c, long long* step) {
  if (c.stage != nullptr) return c.stage->compute(c.d, c.d.f, step, c.stream);
  if (c.d.molecules > kMostInWarp) return launch_block_bead_forces(c, step);
  with_pairs(c.precision, c.m_site, [&]<class R, bool kMSite>() {
    launch_threads(bead_forces_kernel<R, kMSite>, c.d.slots, kThreads, c.stream, c.d, c.system,
                   rounded_parameters<R>(c.system.pair), step);
  });
}

}  // namespace tarn::gpu
