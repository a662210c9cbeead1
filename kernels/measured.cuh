#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/device_state.cuh"
#include "kernels/measure.hpp"
#include "physics/cluster_shape.hpp"

/// @file
/// Molecules and pairs as they are measured, reported positions q = x + b h^2 a, equation (15), and
/// sums over the chunks of a cluster.

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

}  // namespace tarn::gpu
