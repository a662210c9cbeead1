#pragma once

#include "kernels/launch.hpp"

/// @file
/// The modes of ring polymers in device memory, and their constants.

namespace tarn::gpu {

/// Slot of a molecule of a mode.
__device__ inline std::int64_t mode_slot(const DeviceState& modes, std::int64_t replica, int mode,
                                         int molecule) {
  return (replica * modes.copies + mode) * modes.molecules + molecule;
}

/// Constants of a mode of a replica.
__device__ inline ModeNumbers<double> mode_of(const RingTables& rings, int bath, int mode) {
  const auto at = [&](int member) {
    return rings.modes[(bath * kModeMembers + member) * rings.beads + mode];
  };
  return {at(0), at(1), at(2), {at(3), at(4), at(5), at(6)}};
}
/// omega_k^2.
__device__ inline double spring_of(const RingTables& rings, int bath, int mode) {
  return rings.modes[(bath * kModeMembers + 7) * rings.beads + mode];
}

}  // namespace tarn::gpu
