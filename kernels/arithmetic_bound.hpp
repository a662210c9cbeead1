#pragma once

#include <string>

#include "kernels/layout.hpp"

/// @file
/// How fast the pairs could be on a device if nothing but their arithmetic took time: the bound
/// that benchmarks are told against.
///
/// Counted are the additions, multiplications and fused ones of add_pair_forces, one instruction
/// each, and a reciprocal square root as one, though it takes several. A device does `lanes` of
/// them a multiprocessor and cycle, at its highest clock. Conversions, loads, shuffles, and sums in
/// double are not counted: the share reached is rather too low than too high.

namespace tarn {
namespace gpu {

/// Instructions of one pair of molecules, with the forces on both, as a number that counts finds
/// them (tests/support/counting.hpp), checked by unit/arithmetic_bound_test. @param m_site four
/// sites
constexpr int instructions_of_pair(bool m_site) { return m_site ? 169 : 145; }

/// Instructions a multiprocessor and cycle, of floats or doubles; 0 for a device that is not known.
/// (CUDA C++ Programming Guide, throughput of native arithmetic instructions.)
inline int lanes_of(const std::string& compute_capability, bool floats) {
  struct Row {
    const char* capability;
    int floats, doubles;
  };
  constexpr Row rows[] = {{"7.5", 64, 2},   {"8.0", 64, 32},   {"8.6", 128, 2}, {"8.9", 128, 2},
                          {"9.0", 128, 64}, {"10.0", 128, 64}, {"12.0", 128, 2}};
  for (const Row& row : rows) {
    if (compute_capability == row.capability) return floats ? row.floats : row.doubles;
  }
  return 0;
}

/// From what a driver tells, which is 0 on some virtual devices: they are taken to be slow.
constexpr double clock_Hz_of(int reported_kHz) {
  return reported_kHz > 0 ? 1e3 * reported_kHz : 1e9;
}

/// Seconds that so many pairs take at the bound.
inline double bound_seconds(double pairs, int instructions, int multiprocessors, int lanes,
                            double clock_Hz) {
  return pairs * instructions / (clock_Hz * multiprocessors * lanes);
}

}  // namespace gpu
}  // namespace tarn
