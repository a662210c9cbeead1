#pragma once

#include <algorithm>
#include <cstdint>
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
///
/// From an upper bound follows the number of steps per launch on the warp, block and ring_block
/// paths. A GPU that also drives a display freezes it during a launch, and the driver kills
/// launches of about two seconds. Splitting an advance into several launches changes no bit; it
/// only costs the time of the launches.

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
  constexpr Row rows[] = {{"7.5", 64, 2},   {"8.0", 64, 32},  {"8.6", 128, 2},   {"8.7", 128, 2},
                          {"8.9", 128, 2},  {"9.0", 128, 64}, {"10.0", 128, 64}, {"10.3", 128, 2},
                          {"11.0", 128, 2}, {"12.0", 128, 2}, {"12.1", 128, 2}};
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

/// Instruction throughput of a device.
struct IssueRate {
  int multiprocessors = 1;
  int double_lanes = 2;  ///< double instructions per multiprocessor and cycle (lanes_of())
  double clock_Hz = 1e9;
};

inline constexpr double kLongestLaunch_s = 0.5;

/// Upper bound on the instructions of a thread per step: per pair the number counted in
/// docs/decisions/0008-gpu-pair-loops.md, plus all other instructions of the kernel, for all
/// schemes together.
/// @param rows thread rows per block, on the block path
/// @param beads of a ring polymer, whose two transforms are added
constexpr double instructions_of_step(Path path, int molecules, int rows = 1, int beads = 1) {
  constexpr double kPerPair = 270.0, kOthers = 8000.0, kPerTransformed = 40.0;
  if (path == Path::ring_block) {
    return kOthers + kPerPair * rounds(molecules) + kPerTransformed * even_numbers(beads);
  }
  const int turns = turns_of_strip(strips_for(molecules), strip_size(molecules));
  return kOthers + kPerPair * (path == Path::warp ? rounds(molecules) : (turns + rows - 1) / rows);
}

/// Upper bound on the cycles of a step of all replicas. All instructions count as double, each
/// waits for the previous one of its warp, and the warps of a multiprocessor are limited by the
/// issue rate or by the latency of eight concurrent warps (the number that the registers allow),
/// whichever is slower.
constexpr double cycles_of_step(Path path, int molecules, std::int64_t replicas,
                                const IssueRate& rate, int beads = 1) {
  constexpr double kWait = 50.0, kAtOnce = 8.0;
  const int rows = path == Path::block ? block_rows(molecules, replicas, rate.multiprocessors) : 1;
  const bool in_warps = path == Path::warp || path == Path::ring_block;
  const double warps =
      in_warps ? static_cast<double>(warps_for(replicas * beads, molecules))
               : static_cast<double>(replicas) * block_threads(molecules) * rows / kWarpLanes;
  const double of_warp =
      std::max(kWarpLanes / static_cast<double>(rate.double_lanes), kWait / kAtOnce);
  return instructions_of_step(path, molecules, rows, beads) *
         (kWait + of_warp * warps / rate.multiprocessors);
}

/// Steps per launch such that it ends within kLongestLaunch_s; at least one.
///
/// The bounds above are pessimistic by at most about a factor of 100 (a fifth of the instructions;
/// 4 cycles instead of kWait, or 1/4 instead of kWait / kAtOnce), so that there are at most about
/// 200 launches of a few microseconds per second. A launch also reads and writes the state once,
/// which costs less than a step. Launches of fewer than ten steps occur only from about 100 warps
/// per multiprocessor on.
constexpr std::int64_t most_steps_in_launch(Path path, int molecules, std::int64_t replicas,
                                            const IssueRate& rate, int beads = 1) {
  const double steps =
      kLongestLaunch_s * rate.clock_Hz / cycles_of_step(path, molecules, replicas, rate, beads);
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(steps));
}

}  // namespace tarn::gpu
