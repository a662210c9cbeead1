#pragma once

#include <string>

#include "kernels/layout.hpp"

/// @file
/// Lower bound on the time of pair forces on a device, from their arithmetic only. Benchmarks
/// report the fraction of it that the kernels reach.
///
/// The bound counts the additions, multiplications and fused multiply-adds of add_pair_forces as
/// one instruction each, and a reciprocal square root as one, although it takes several. A
/// multiprocessor issues `lanes` instructions per cycle, at its highest clock. Conversions, loads,
/// shuffles and sums in double are not counted, so the reported fraction is an underestimate.

namespace tarn::gpu {

/// Instructions per pair of molecules, for the forces on both. unit/device_layout_test compares
/// them with the counts of tests/support/counting.hpp.
/// @param m_site whether the model has four sites
constexpr int instructions_of_pair(bool m_site) { return m_site ? 169 : 145; }

/// Instructions per multiprocessor and cycle, in float or double; 0 for an unknown device.
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

/// Clock from the value that the driver reports. Some virtual devices report 0; 1 GHz is assumed.
constexpr double clock_Hz_of(int reported_kHz) {
  return reported_kHz > 0 ? 1e3 * reported_kHz : 1e9;
}

/// Seconds for a number of pairs at the bound.
inline double bound_seconds(double pairs, int instructions, int multiprocessors, int lanes,
                            double clock_Hz) {
  return pairs * instructions / (clock_Hz * multiprocessors * lanes);
}

}  // namespace tarn::gpu
