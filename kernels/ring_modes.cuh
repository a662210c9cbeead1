#pragma once

#include "kernels/launch.hpp"

/// @file
/// Constants of the modes of ring polymers in device memory.

namespace tarn::gpu {

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
