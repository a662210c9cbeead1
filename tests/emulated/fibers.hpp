#pragma once

#include <cstdint>
#include <functional>

/// @file
/// Fibers that take turns on one thread, with the barriers of a GPU's thread block. The address
/// sanitizer checks their accesses. The thread sanitizer treats them as threads, and finds
/// conflicting accesses without a barrier in between.

namespace tarn::emulated {

/// Orders of turns, of fibers and of blocks.
enum class Turns { forwards, backwards, mixed };
/// The number of turn k of `count` turns.
inline unsigned turn(Turns order, unsigned k, unsigned count) {
  if (order == Turns::forwards) return k;
  if (order == Turns::backwards) return count - 1 - k;
  // Steps without a common divisor with count.
  const std::uint64_t step = count % 1021 != 0 ? 1021 : 1;
  return static_cast<unsigned>((count / 3 + k * step) % count);
}

/// Runs `count` fibers to their end; each returns to its turn until it ends or waits.
/// @param enter called before each turn of a fiber with its number; returns the function of the
///        fiber (used in its first turn only)
/// @throws std::logic_error if not all threads of a block or of a warp reach a barrier
void run_fibers(unsigned count,
                const std::function<const std::function<void()>&(unsigned number)>& enter,
                Turns order = Turns::forwards);

/// Waits for all fibers that have not ended; their writes are then visible.
void wait_for_block();
/// Waits for fibers first .. first + count - 1, which must be whole warps without ended fibers;
/// their writes are then visible.
void wait_for_some(unsigned first, unsigned count);
/// Waits for the others of the same 32, none of which may have ended; their writes are then
/// visible.
void wait_for_warp();
/// The same for a shuffle: it does not order memory.
void wait_for_lanes();

}  // namespace tarn::emulated
