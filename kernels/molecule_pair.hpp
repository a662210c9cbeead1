#pragma once

#include <cmath>
#include <cstdint>

#include "tarn/physics/cluster_shape.hpp"

namespace tarn::gpu {

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

}  // namespace tarn::gpu
