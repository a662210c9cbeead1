#pragma once

#include <cstdint>

#include "kernels/device_state.cuh"

/// @file
/// Reported positions q = x + b h^2 a of molecules in device memory, equation (15).

namespace tarn::gpu {

/// Slot of a molecule on any path.
__device__ inline std::int64_t device_slot(const DeviceState& d, std::int64_t replica,
                                           int molecule) {
  return slot_of(replica, molecule, d.molecules, d.per_warp);
}
__device__ inline Triple<double> reported(const DeviceState& d, double bh2, std::int64_t slot) {
  if (d.a == nullptr) return load_triple(d.x, d.slots, slot);
  return fma(bh2, load_triple(d.a, d.slots, slot), load_triple(d.x, d.slots, slot));
}
__device__ inline Vec3<double> reported_oxygen(const DeviceState& d, double bh2,
                                               std::int64_t slot) {
  if (d.a == nullptr) return load_vector<double>(d.x, d.slots, slot);
  return fma(bh2, load_vector<double>(d.a, d.slots, slot), load_vector<double>(d.x, d.slots, slot));
}

}  // namespace tarn::gpu
