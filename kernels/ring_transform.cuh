#pragma once

#include "kernels/launch.hpp"

/// @file
/// Transforms between the beads and the modes of a ring polymer; see RingInputs. All kernels add in
/// the same order and give the same bits.

namespace tarn::gpu {

/// Number `to` of a transform.
/// @param table RingTables::to_modes or to_beads
/// @param number returns an input, folded if the transform is to modes
template <class V, class Number>
__device__ inline V transformed(const double* table, int beads, int to, const RingInputs& inputs,
                                const Number& number) {
  V sum{};
  for (int k = 0; k < inputs.count; ++k) {
    sum = fma(table[k * beads + to], number(inputs.first + k * inputs.step), sum);
  }
  return sum;
}

/// Number `at` of the folded beads, or of the unfolded ones.
/// @param own,opposite the numbers at `at` and at P - 1 - at
template <class V>
__device__ inline V folded(int at, int beads, const V& own, const V& opposite) {
  const int even = even_numbers(beads);
  return at == beads - 1 - at ? own : at < even ? own + opposite : opposite - own;
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
