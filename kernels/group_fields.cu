#include "kernels/group_fields.hpp"

#include "kernels/launch_kernel.hpp"
#include "kernels/measured.cuh"
#include "physics/moments.hpp"
#include "physics/radial.hpp"
#include "tarn/core/replica_map.hpp"

namespace tarn::gpu {
namespace {

static_assert(kMomentLanes == kWarpLanes);
constexpr int kNoPlace = 0x7fffffff;

/// A warp per (group, number). The order of the sums is that of physics/moments.hpp, which is the
/// same on all devices; a library reduction does not guarantee it.
__global__ void __launch_bounds__(kMeasureThreads)
    moments_kernel(const double* rows, const int* stopped, DeviceGroups groups, DeviceMoments out) {
  const std::int64_t warp =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (warp >= std::int64_t{groups.groups} * out.numbers) return;
  const int group = static_cast<int>(warp / out.numbers);
  const int number = static_cast<int>(warp % out.numbers);
  const int begin = groups.begins[group * kMomentLanes + lane];
  const int end = groups.begins[group * kMomentLanes + lane + 1];
  const auto value = [&](int place, int k) {
    return rows[static_cast<std::int64_t>(place) * out.numbers + k];
  };
  long long count = 0;
  int earliest = kNoPlace;
  for (int i = begin; i < end; ++i) {
    const int place = groups.places[i];
    if (stopped[place] != 0) continue;
    ++count;
    earliest = place < earliest ? place : earliest;
  }
  for (int o = kWarpLanes / 2; o > 0; o /= 2) {
    count += __shfl_xor_sync(0xffffffffu, count, o);
    const int other = __shfl_xor_sync(0xffffffffu, earliest, o);
    earliest = other < earliest ? other : earliest;
  }
  const int last = out.numbers - 1;
  const bool is_empty = earliest == kNoPlace;
  const double pivot = is_empty ? 0.0 : value(earliest, number);
  const double last_pivot = is_empty ? 0.0 : value(earliest, last);
  MomentSums sums;
  for (int i = begin; i < end; ++i) {
    const int place = groups.places[i];
    if (stopped[place] == 0)
      sums.add(value(place, number) - pivot, value(place, last) - last_pivot);
  }
  for (int o = kMomentLanes / 2; o > 0; o /= 2) {
    MomentSums other;
    other.sum = __shfl_xor_sync(0xffffffffu, sums.sum, o);
    other.square = __shfl_xor_sync(0xffffffffu, sums.square, o);
    other.product = __shfl_xor_sync(0xffffffffu, sums.product, o);
    sums.add(other);
  }
  if (lane > 0) return;
  out.counts[warp] = count;
  out.pivots[warp] = pivot;
  out.sums[warp] = sums.sum;
  out.squares[warp] = sums.square;
  if (out.numbers == 1) out.products[group] = 0.0;
  if (number == last - 1) out.products[group] = sums.product;
}

/// A thread per molecule. All sums are of integers.
__global__ void __launch_bounds__(kMeasureThreads)
    radial_kernel(DeviceState d, MeasureNumbers n, const double* centres, DeviceRadial radial) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread >= d.replicas * d.molecules) return;
  const std::int64_t replica = thread / d.molecules;
  if (d.stopped[replica] != 0) return;
  const int molecule = static_cast<int>(thread % d.molecules);
  const auto group = sample_group(d.ids[replica], static_cast<std::int64_t>(radial.groups));
  const std::int64_t size = static_cast<std::int64_t>(radial.groups) * radial.bins;
  unsigned long long* const oxygens = radial.counts + radial.groups;
  if (molecule == 0) atomicAdd(radial.counts + group, 1ULL);
  const Triple<double> q = reported(d, n.step.bh2, device_slot(d, replica, molecule));
  const RadialTerm term =
      radial_term(q, load_centres(n, centres, replica).mass_q, {radial.r_max_A, radial.bins});
  const std::int64_t first = group * radial.bins;
  if (term.oxygen >= 0) {
    atomicAdd(oxygens + first + term.oxygen, 1ULL);
    // Two's complement: negative numbers add up as well.
    atomicAdd(oxygens + 2 * size + first + term.oxygen,
              static_cast<unsigned long long>(term.cosine));
  }
  for (const int shell : term.hydrogens) {
    if (shell >= 0) atomicAdd(oxygens + size + first + shell, 1ULL);
  }
}

}  // namespace

void launch_moments(const double* rows, const int* stopped, const DeviceGroups& groups,
                    const DeviceMoments& moments, cudaStream_t stream) {
  launch_kernel(moments_kernel,
                measure_blocks_of(std::int64_t{groups.groups} * moments.numbers * kWarpLanes),
                kMeasureThreads, 0, stream, rows, stopped, groups, moments);
}

void launch_radial(const DeviceState& d, const MeasureNumbers& n, const double* centres,
                   const DeviceRadial& radial, cudaStream_t stream) {
  launch_kernel(radial_kernel, measure_blocks_of(d.replicas * d.molecules), kMeasureThreads, 0,
                stream, d, n, centres, radial);
}

}  // namespace tarn::gpu
