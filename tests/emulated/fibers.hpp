#pragma once

#include <functional>

/// @file
/// Fibers that take turns on one thread, with the kinds of barriers that a block of a GPU has.
/// The address sanitizer sees where they write; the thread sanitizer takes them for threads, so
/// that it finds what two of them do to the same place with no barrier between.

namespace tarn::emulated {

/// Runs `count` fibers to their end; each returns to its turn until it ends or waits.
/// @param enter called before each turn of a fiber with its number; gives what it runs (looked at
///        the first time only)
/// @param backwards takes turns from the last one to the first
/// @throws std::logic_error when fibers wait for others that never come: a barrier that not all
///         threads of a block, or of a warp, reach
void run_fibers(unsigned count,
                const std::function<const std::function<void()>&(unsigned number)>& enter,
                bool backwards = false);

/// Waits for all fibers that have not ended, whose memory is then seen.
void wait_for_block();
/// Waits for fibers first .. first + count - 1, which are whole warps and none of which may have
/// ended; then their memory is seen.
void wait_for_some(unsigned first, unsigned count);
/// Waits for the others of the same 32, none of which may have ended; then their memory is seen.
void wait_for_warp();
/// The same, as a shuffle does: nobody's memory is ordered by it.
void wait_for_lanes();

}  // namespace tarn::emulated
