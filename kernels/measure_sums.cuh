#pragma once

#include "kernels/launch_kernel.hpp"
#include "kernels/measured.cuh"
#include "physics/pair_force.hpp"

/// @file
/// Sums over the molecules of each replica, of terms(replica, molecule, out); see measure.cu. In an
/// unnamed namespace, because each file that includes it compiles its own kernels.

namespace tarn::gpu {
namespace {

/// Energy of the pairs that a molecule begins, so that each pair of a cluster counts once.
/// @param q reported positions of the molecule
template <bool kMSite>
__device__ double pair_energy_of(const DeviceState& d, double bh2,
                                 const PairParameters<double>& pair, std::int64_t replica,
                                 int molecule, const Triple<double>& q) {
  const SiteOffsets<double> own = site_offsets<kMSite>(q, pair.m_weight);
  double coulomb = 0.0, lj = 0.0;
  for (int k = 1; k <= rounds(d.molecules); ++k) {
    if (!meets(molecule, k, d.molecules)) continue;
    const int partner = partner_lane(molecule, molecule, k, d.molecules);
    const Triple<double> other = reported(d, bh2, device_slot(d, replica, partner));
    add_pair_energy<kMSite>(pair, q.o - other.o, own, site_offsets<kMSite>(other, pair.m_weight),
                            AllLanes{}, coulomb, lj);
  }
  return coulomb + lj;
}

/// The replicas of terms, and whether a number is a maximum over the molecules.
struct SummedTerms {
  static __device__ bool is_maximum(int) { return false; }
  DeviceState d;
  MeasureNumbers n;
};

/// @param out [replica][chunk][number]
template <class Terms>
__global__ void __launch_bounds__(kMeasureThreads) sum_kernel(Terms terms, double* out) {
  constexpr int kNumbers = Terms::kNumbers;
  __shared__ double shared[kNumbers * kMeasureThreads];
  const int molecules = terms.d.molecules, lanes = measured_lanes(molecules);
  const int chunks = measured_chunks(molecules), thread = static_cast<int>(threadIdx.x);
  // Several replicas side by side, or one chunk of a replica.
  const std::int64_t first_replica =
      chunks == 1 ? static_cast<std::int64_t>(blockIdx.x) * (kMeasureThreads / lanes)
                  : blockIdx.x / static_cast<unsigned>(chunks);
  const int chunk = chunks == 1 ? 0 : static_cast<int>(blockIdx.x % static_cast<unsigned>(chunks));
  const int first_molecule = chunk * kMeasureThreads;
  const int in_chunk = molecules - first_molecule < lanes ? molecules - first_molecule : lanes;
  const std::int64_t replica = first_replica + thread / lanes;
  if (replica < terms.d.replicas && thread % lanes < in_chunk) {
    double own[kNumbers];
    terms(replica, first_molecule + thread % lanes, own);
    for (int k = 0; k < kNumbers; ++k) shared[k * kMeasureThreads + thread] = own[k];
  }
  __syncthreads();
  const int replicas = kMeasureThreads / lanes;
  for (int task = thread; task < kNumbers * replicas; task += kMeasureThreads) {
    const int number = task % kNumbers, place = task / kNumbers;
    if (first_replica + place >= terms.d.replicas) continue;
    const double* const own = shared + number * kMeasureThreads + place * lanes;
    const bool maximum = Terms::is_maximum(number);
    double sum = own[0];
    for (int m = 1; m < in_chunk; ++m) {
      sum = maximum ? (own[m] > sum ? own[m] : sum) : sum + own[m];
    }
    out[((first_replica + place) * chunks + chunk) * kNumbers + number] = sum;
  }
}

template <class Terms>
void launch_sum(const Terms& terms, double* out, cudaStream_t stream) {
  launch_kernel(sum_kernel<Terms>, measure_blocks(terms.d.replicas, terms.d.molecules),
                kMeasureThreads, 0, stream, terms, out);
}

}  // namespace
}  // namespace tarn::gpu
