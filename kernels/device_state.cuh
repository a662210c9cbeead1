#pragma once

#include <cstdint>

#include "kernels/cluster_program.hpp"
#include "kernels/layout.hpp"
#include "tarn/physics/noise.hpp"

/// @file
/// What lies on the device, and how one molecule of it is read and written.

namespace tarn::gpu {

/// Replicas are told apart for errors of pair counts by id modulo this; see kCountGroups.
inline constexpr int kGroups = 32;

/// blow_molecule of a replica that goes on.
inline constexpr int kNoMolecule = 0x7fffffff;

/// Pointers to device memory. Coordinate arrays are [coordinate][slot].
struct DeviceState {
  std::int64_t slots;
  std::int64_t replicas;
  int molecules;
  int width;  ///< lanes of a cluster on the warp path, else 0
  double *x, *v, *a;
  double* v_thermal;               ///< with BAOAB, else null
  double *kept_x, *kept_v;         ///< the last state that was kept
  double* f;                       ///< forces without the bonds
  const std::uint64_t* ids;        ///< [replica]
  const double* kick_scale;        ///< [replica]
  int* stopped;                    ///< [replica]
  long long* blow_step;            ///< [replica]
  int* blow_molecule;              ///< [replica]
  unsigned long long* iterations;  ///< one number, summed over molecules and steps
  unsigned long long* indefinite;  ///< one number
};

/// Pair distances to be counted.
struct DeviceCounts {
  bool enabled;
  bool pairs[3];
  double bins_per_A;
  int bins;
  long long every, first_step;
  unsigned long long* counts;   ///< [group][class][bin]
  unsigned long long* samples;  ///< [group]

  __device__ bool due(std::int64_t step) const {
    return enabled && step >= first_step && step % every == 0;
  }
  __device__ void add(std::uint64_t id, int pair_class, double r2) const {
    const double at = sqrt(r2) * bins_per_A;
    if (!(at < bins)) return;  // beyond r_max, or no number
    const int bin = static_cast<int>(at);
    const std::int64_t row = static_cast<std::int64_t>(id % kGroups) * 3 + pair_class;
    atomicAdd(counts + row * bins + bin, 1ULL);
  }
};

__device__ inline Triple<double> load_triple(const double* c, std::int64_t slots,
                                             std::int64_t slot) {
  const double* p = c + slot;
  return {{p[0], p[slots], p[2 * slots]},
          {p[3 * slots], p[4 * slots], p[5 * slots]},
          {p[6 * slots], p[7 * slots], p[8 * slots]}};
}
__device__ inline void store_triple(const Triple<double>& t, double* c, std::int64_t slots,
                                    std::int64_t slot) {
  double* p = c + slot;
  p[0] = t.o.x;
  p[slots] = t.o.y;
  p[2 * slots] = t.o.z;
  p[3 * slots] = t.h1.x;
  p[4 * slots] = t.h1.y;
  p[5 * slots] = t.h1.z;
  p[6 * slots] = t.h2.x;
  p[7 * slots] = t.h2.y;
  p[8 * slots] = t.h2.z;
}
__device__ inline MoleculeState<double> load_state(const DeviceState& d, std::int64_t slot) {
  return {load_triple(d.x, d.slots, slot), load_triple(d.v, d.slots, slot),
          load_triple(d.a, d.slots, slot)};
}
__device__ inline void store_state(const MoleculeState<double>& s, const DeviceState& d,
                                   std::int64_t slot) {
  store_triple(s.x, d.x, d.slots, slot);
  store_triple(s.v, d.v, d.slots, slot);
  store_triple(s.a, d.a, d.slots, slot);
}
__device__ inline void keep_state(const MoleculeState<double>& s, const DeviceState& d,
                                  std::int64_t slot) {
  store_triple(s.x, d.kept_x, d.slots, slot);
  store_triple(s.v, d.kept_v, d.slots, slot);
}
/// Back to the kept positions, at rest.
__device__ inline void rest(MoleculeState<double>& s, const DeviceState& d, std::int64_t slot) {
  const Vec3<double> zero{0.0, 0.0, 0.0};
  s.x = load_triple(d.kept_x, d.slots, slot);
  s.v = {zero, zero, zero};
  s.a = {zero, zero, zero};
}

__device__ inline Triple<double> noise_of(std::uint64_t seed, std::uint64_t id, int molecule,
                                          std::int64_t step) {
  const MoleculeNormals z =
      molecule_normals(seed, id, static_cast<std::uint64_t>(molecule),
                       static_cast<std::uint64_t>(step), NoiseStream::thermostat);
  return {{z.xi[0], z.xi[1], z.xi[2]}, {z.xi[3], z.xi[4], z.xi[5]}, {z.xi[6], z.xi[7], z.xi[8]}};
}

/// A sum over the 32 lanes of integers, added to a number in memory.
__device__ inline void add_over_warp(unsigned long long value, unsigned long long* to) {
  for (int o = 16; o > 0; o /= 2) value += __shfl_xor_sync(0xffffffffu, value, o);
  if (threadIdx.x % kWarpLanes == 0 && value > 0) atomicAdd(to, value);
}

template <class R>
PairParameters<R> rounded_parameters(const PairParameters<double>& p) {
  return {static_cast<R>(p.qq_nn),  static_cast<R>(p.qq_nh), static_cast<R>(p.qq_hh),
          static_cast<R>(p.lj_12a), static_cast<R>(p.lj_6c), static_cast<R>(p.m_weight)};
}

}  // namespace tarn::gpu
