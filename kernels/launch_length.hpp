#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/layout.hpp"

/// @file
/// Number of steps per launch on the warp, block and ring_block paths. A GPU that also drives a
/// display freezes it during a launch, and the driver kills launches of about two seconds.
/// Splitting an advance into several launches changes no bit; it only costs the time of the
/// launches.

namespace tarn::gpu {

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
