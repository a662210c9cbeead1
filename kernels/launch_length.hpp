#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/layout.hpp"

/// @file
/// How many steps one launch may hold on the paths that take many. Where a GPU shows a desktop too,
/// the picture stands still during a launch, and one of some two seconds is killed. Pieces change
/// no bit (the first law); that steps are not cut more often than they must is all that they cost.

namespace tarn::gpu {

/// What a device issues.
struct IssueRate {
  int multiprocessors = 1;
  int double_lanes = 2;  ///< instructions in double a multiprocessor and cycle (lanes_of())
  double clock_Hz = 1e9;
};

inline constexpr double kLongestLaunch_s = 0.5;

/// Upper bound on the instructions of a thread in a step: per pair those counted in
/// docs/decisions/0008-gpu-pair-loops.md, outside the pairs those of the whole kernel for all
/// schemes.
/// @param rows of threads of a block, on the block path
constexpr double instructions_of_step(Path path, int molecules, int rows = 1) {
  constexpr double kOfMeeting = 270.0, kBeside = 8000.0;
  const int turns = turns_of_strip(strips_for(molecules), strip_size(molecules));
  return kBeside +
         kOfMeeting * (path == Path::warp ? rounds(molecules) : (turns + rows - 1) / rows);
}

/// Cycles of a step of all replicas, no fewer than it takes: all instructions in double, each of
/// which a warp waits for until the next, and of all warps of a multiprocessor at the rate at which
/// it issues them or eight warps wait, whichever is slower: so many find their registers at once.
constexpr double cycles_of_step(Path path, int molecules, std::int64_t replicas,
                                const IssueRate& rate) {
  constexpr double kWait = 50.0, kAtOnce = 8.0;
  const int rows = path == Path::block ? block_rows(molecules, replicas, rate.multiprocessors) : 1;
  const double warps = path == Path::warp ? static_cast<double>(warps_for(replicas, molecules))
                                          : static_cast<double>(replicas) *
                                                block_threads(molecules) * rows / kWarpLanes;
  const double of_warp =
      std::max(kWarpLanes / static_cast<double>(rate.double_lanes), kWait / kAtOnce);
  return instructions_of_step(path, molecules, rows) *
         (kWait + of_warp * warps / rate.multiprocessors);
}

/// Steps of a launch that is done after kLongestLaunch_s, or one step. It is done earlier, but not
/// much more than a hundredfold: with a fifth of the instructions, and four cycles in place of
/// kWait or 1/4 in place of kWait / kAtOnce. So a second has some two hundred launches of a few
/// microseconds each at most, a thousandth of it. A launch also reads and writes the state once,
/// less than a step's work; fewer than ten steps are in it from some hundred warps a multiprocessor
/// on only.
constexpr std::int64_t most_steps_in_launch(Path path, int molecules, std::int64_t replicas,
                                            const IssueRate& rate) {
  const double steps =
      kLongestLaunch_s * rate.clock_Hz / cycles_of_step(path, molecules, replicas, rate);
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(steps));
}

}  // namespace tarn::gpu
