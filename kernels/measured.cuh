#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/device_state.cuh"
#include "kernels/launch_kernel.hpp"
#include "kernels/measure.hpp"
#include "physics/cluster_shape.hpp"
#include "physics/pair_force.hpp"

/// @file
/// Molecules and pairs as they are measured, reported positions q = x + b h^2 a, equation (15), and
/// sums of terms(replica, molecule, out) over the molecules of each replica; see measure.cu.

namespace tarn::gpu {

__device__ inline Triple<double> reported(const DeviceState& d, double bh2, std::int64_t slot) {
  if (d.a == nullptr) return load_triple(d.x, d.slots, slot);
  return fma(bh2, load_triple(d.a, d.slots, slot), load_triple(d.x, d.slots, slot));
}
__device__ inline Vec3<double> reported_oxygen(const DeviceState& d, double bh2,
                                               std::int64_t slot) {
  if (d.a == nullptr) return load_vector<double>(d.x, d.slots, slot);
  return fma(bh2, load_vector<double>(d.a, d.slots, slot), load_vector<double>(d.x, d.slots, slot));
}

/// A pair of the molecules of a cluster; see molecule_pairs().
struct MoleculePair {
  int later, earlier;
};
TARN_HD MoleculePair molecule_pair(std::int64_t number) {
  // The root may be off by rounding.
  auto later = static_cast<std::int64_t>(0.5f + sqrtf(0.25f + 2.0f * static_cast<float>(number)));
  while (later * (later - 1) / 2 > number) --later;
  while (later * (later + 1) / 2 <= number) ++later;
  return {static_cast<int>(later), static_cast<int>(number - later * (later - 1) / 2)};
}

__device__ inline MeasuredMolecule<double> load_measured(const DeviceState& d,
                                                         const MeasureNumbers& n,
                                                         std::int64_t slot) {
  MeasuredMolecule<double> m{load_triple(d.x, d.slots, slot),
                             load_triple(d.v, d.slots, slot),
                             d.a == nullptr ? Triple<double>{} : load_triple(d.a, d.slots, slot),
                             {},
                             {}};
  m.q = fma(n.step.bh2, m.a, m.x);
  if (n.baoab) m.v_thermal = load_triple(d.v_thermal, d.slots, slot);
  return m;
}

/// Sums over the chunks of a cluster, in order.
template <int kNumbers>
__device__ inline void add_chunks(const double* sums, std::int64_t replica, int molecules,
                                  double (&out)[kNumbers]) {
  const int chunks = measured_chunks(molecules);
  const double* from = sums + replica * chunks * kNumbers;
  for (int k = 0; k < kNumbers; ++k) out[k] = from[k];
  for (int c = 1; c < chunks; ++c) {
    for (int k = 0; k < kNumbers; ++k) out[k] += from[c * kNumbers + k];
  }
}

/// Centres of a cluster, from the sums of CentreTerms.
__device__ inline Centres<double> load_centres(const MeasureNumbers& n, const double* sums,
                                               std::int64_t replica) {
  double all[CentreTerm::kNumbers];
  add_chunks(sums, replica, n.molecules, all);
  return centres_of(n.molecules, n.molecules * molecule_mass(n.step.masses), all);
}

// In an unnamed namespace, because each file that includes it compiles its own kernels.
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
  TARN_SHARED(shared, double[kNumbers * kMeasureThreads]);
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
