#include "kernels/quench.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/bulk.hpp"
#include "kernels/cuda_engine.hpp"
#include "kernels/launch_kernel.hpp"
#include "kernels/partner_loop.cuh"
#include "kernels/step_stream.hpp"

namespace tarn::gpu {
namespace {

constexpr int kThreads = 128;
/// Evaluations per launch; then the clusters whose quenches have ended are left out.
constexpr int kEvaluations = 2 * kQuenchPairs;

/// Clusters in device memory. A slot is a molecule: cluster * molecules + molecule.
struct QuenchMemory {
  double *x, *trial;     ///< [slot][9]
  double* rows;          ///< [QuenchRow][unknown][slot]
  double* numbers;       ///< [cluster][QuenchNumber]
  std::int64_t* active;  ///< clusters that run
  std::int64_t count;    ///< of them
  std::int64_t slots;
};

/// Clusters for quench_step(), one molecule per lane.
class QuenchWarp : public WarpLanes {
 public:
  __device__ QuenchWarp(const QuenchMemory& memory, int unknowns, int lane, LanePlace place,
                        int molecules)
      : WarpLanes(lane, place.molecule, molecules), memory_(memory), unknowns_(unknowns) {
    if (idle()) return;
    cluster_ = memory.active[place.replica];
    slot_ = cluster_ * molecules + place.molecule;
    x_ = load_triple<double>(memory.x, 1, 9 * slot_);
    trial_ = load_triple<double>(memory.trial, 1, 9 * slot_);
  }
  __device__ bool idle() const { return molecule_ < 0; }
  __device__ bool is_first() const { return molecule_ == 0; }
  __device__ double* numbers() const { return memory_.numbers + cluster_ * QuenchNumber::kNumbers; }
  __device__ void store() const {
    if (idle()) return;
    store_triple(x_, memory_.x, 1, 9 * slot_);
    store_triple(trial_, memory_.trial, 1, 9 * slot_);
  }
  __device__ void put_forces(const Triple<double>& f) { f_ = f; }

  __device__ int molecules() const { return 1; }
  __device__ const Triple<double>& x(int) const { return x_; }
  __device__ const Triple<double>& trial(int) const { return trial_; }
  __device__ const Triple<double>& f(int) const { return f_; }
  __device__ void put_x(int, const Triple<double>& x) { x_ = x; }
  __device__ void put_trial(int, const Triple<double>& x) { trial_ = x; }
  __device__ double row(int r, int k) const { return idle() ? 0.0 : memory_.rows[at(r, k)]; }
  __device__ void put_row(int r, int k, double value) const {
    if (!idle()) memory_.rows[at(r, k)] = value;
  }
  using WarpLanes::sum;
  __device__ double sum(double a) const {
    return over_cluster(a, [](double one, double other) { return one + other; });
  }
  __device__ double largest(double a) const {
    return over_cluster(a, [](double one, double other) { return max(one, other); });
  }

 private:
  __device__ std::int64_t at(int r, int k) const {
    return (std::int64_t{r} * unknowns_ + k) * memory_.slots + slot_;
  }
  template <class Op>
  __device__ double over_cluster(double a, const Op& op) const {
    for (int o = first_offset(molecules_); o > 0; o /= 2) {
      const double other = __shfl_sync(kAllLanes, a, lane_ + o);
      if (adds(molecule_, o, molecules_)) a = op(a, other);
    }
    return __shfl_sync(kAllLanes, a, first());
  }

  const QuenchMemory& memory_;
  int unknowns_;
  std::int64_t cluster_ = 0, slot_ = 0;
  Triple<double> x_{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, trial_ = x_, f_{};
};

/// The energy of a cluster; the same in all its lanes.
template <bool kMSite, bool kFlexible>
__device__ double cluster_energy(const QuenchWarp& w, const ClusterSystem& system,
                                 const Triple<double>& x) {
  const SiteOffsets<double> own = site_offsets<kMSite>(x, system.pair.m_weight);
  double coulomb = 0.0, rest = 0.0;
  for (int k = 1; k <= w.rounds(); ++k) {
    const Triple<double> other = shuffled(w, x, w.partner(k));
    if (!w.pair<double>(k)) continue;
    add_pair_energy<kMSite>(system.pair, x.o - other.o, own,
                            site_offsets<kMSite>(other, system.pair.m_weight), AllLanes{}, coulomb,
                            rest);
  }
  if constexpr (kFlexible) rest += intramolecular_energy(x, system.step.flexible);
  if (system.outside.act()) rest += field_energy(x, system.outside);
  return w.sum(coulomb + rest);
}

template <bool kMSite, bool kFlexible>
__global__ void __launch_bounds__(kThreads)
    quench_kernel(QuenchMemory memory, ClusterSystem system, QuenchRules rules) {
  const std::int64_t warp = thread_number() / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (warp * clusters_per_warp(system.molecules) >= memory.count) return;
  QuenchWarp w(memory, rules.unknowns(), lane, place_of(warp, lane, system.molecules, memory.count),
               system.molecules);
  double n[QuenchNumber::kNumbers];
  for (int k = 0; k < QuenchNumber::kNumbers; ++k) n[k] = w.idle() ? 0.0 : w.numbers()[k];
  for (int i = 0; i < kEvaluations; ++i) {
    const bool runs = !w.idle() && n[QuenchNumber::kStatus] == double{kQuenchRuns};
    if (__ballot_sync(kAllLanes, runs) == 0u) break;
    const Triple<double> x = w.trial(0);
    Triple<double> f = cluster_forces<QuenchWarp, double, kMSite>(w, system, system.pair, x);
    if constexpr (kFlexible) f = f + intramolecular_force(x, system.step.flexible);
    w.put_forces(f);
    quench_step(w, rules, i % kQuenchPairs, cluster_energy<kMSite, kFlexible>(w, system, x), n);
  }
  w.store();
  for (int k = 0; k < QuenchNumber::kNumbers; ++k) {
    if (w.is_first()) w.numbers()[k] = n[k];
  }
}

/// Quenches clusters that fit in memory.
void quench(const ClusterSystem& system, const QuenchRules& rules, bool m_site, cudaStream_t stream,
            std::span<double> positions_A, std::span<double> numbers,
            const std::function<bool()>& should_continue) {
  const auto n = static_cast<std::size_t>(system.molecules);
  const std::size_t clusters = numbers.size() / QuenchNumber::kNumbers;
  std::vector<std::int64_t> all(clusters);
  std::iota(all.begin(), all.end(), 0);
  const DeviceBuffer<double> x{std::span<const double>(positions_A)};
  const DeviceBuffer<double> trial{std::span<const double>(positions_A)};
  const DeviceBuffer<double> on_device{std::span<const double>(numbers)};
  const DeviceBuffer<double> rows(
      static_cast<std::size_t>(QuenchRow::kRows * rules.unknowns()) * clusters * n, 0);
  const DeviceBuffer<std::int64_t> active{std::span<const std::int64_t>(all)};
  QuenchMemory memory{x.get(),
                      trial.get(),
                      rows.get(),
                      on_device.get(),
                      active.get(),
                      static_cast<std::int64_t>(clusters),
                      static_cast<std::int64_t>(clusters * n)};
  const int per_warp = clusters_per_warp(system.molecules);
  wait_for_copies();
  do {
    const std::int64_t warps = (memory.count + per_warp - 1) / per_warp;
    with_pairs(Precision::double_, m_site, [&]<class R, bool kMSite>() {
      with_bonds(system, [&]<bool kFlexible>() {
        launch_threads(quench_kernel<kMSite, kFlexible>, warps * kWarpLanes, kThreads, stream,
                       memory, system, rules);
      });
    });
    memory.count = keep_zeros(memory.active, memory.count, memory.numbers + QuenchNumber::kStatus,
                              QuenchNumber::kNumbers, stream);
  } while (memory.count > 0 && (!should_continue || should_continue()));
  std::ranges::copy(x.download(), positions_A.begin());
  std::ranges::copy(on_device.download(), numbers.begin());
}

}  // namespace
}  // namespace tarn::gpu

namespace tarn {

void quench_on_cuda(const System& system, const QuenchRules& rules, int device_index,
                    std::span<double> positions_A, std::span<double> numbers,
                    const std::function<bool()>& should_continue) {
  check_cuda_device(device_index);
  ClusterSystem cluster{};
  cluster.step = step_parameters(system);
  cluster.passes = step_passes(system);
  cluster.outside = outside_forces(system);
  cluster.pair = pair_parameters<double>(system.model);
  cluster.molecules = system.molecules;
  const gpu::StepStream stream(device_index);
  std::size_t free = 0, total = 0;
  gpu::cuda_check(cudaMemGetInfo(&free, &total));
  const std::size_t coordinates = 9 * static_cast<std::size_t>(system.molecules);
  const std::size_t bytes =
      sizeof(double) * (coordinates * (2 + QuenchRow::kRows) + QuenchNumber::kNumbers + 1);
  // Several threads may do the same.
  const std::size_t most = std::max<std::size_t>(1, free / 128 / bytes);
  for (std::size_t first = 0; first * coordinates < positions_A.size(); first += most) {
    const std::size_t count = std::min(most, positions_A.size() / coordinates - first);
    gpu::quench(cluster, rules, system.model.has_m_site(), stream.stream(),
                positions_A.subspan(first * coordinates, count * coordinates),
                numbers.subspan(first * QuenchNumber::kNumbers, count * QuenchNumber::kNumbers),
                should_continue);
  }
}

}  // namespace tarn
