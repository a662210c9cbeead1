#pragma once

#include <cstdint>

#include "kernels/measure.hpp"
#include "kernels/reported.cuh"

/// @file
/// Molecules as they are measured, and sums over the chunks of a cluster.

namespace tarn::gpu {

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
  return centres_of(n, all);
}

}  // namespace tarn::gpu
