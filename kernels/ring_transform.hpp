#pragma once

#include "kernels/layout.hpp"

/// @file
/// Transforms between the beads and the modes of a ring polymer; see RingInputs. All kernels add in
/// the same order and give the same bits.

namespace tarn::gpu {

/// Number `to` of a transform.
/// @param table RingTables::to_modes or to_beads
/// @param number returns an input, folded if the transform is to modes
template <class V, class T, class Number>
TARN_HD V transformed(const T* table, int beads, int to, const RingInputs& inputs,
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
TARN_HD V folded(int at, int beads, const V& own, const V& opposite) {
  const int even = even_numbers(beads);
  return at == beads - 1 - at ? own : at < even ? own + opposite : opposite - own;
}

}  // namespace tarn::gpu
