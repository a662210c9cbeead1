#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

/// @file
/// Grids whose threads are fibers that take turns on one thread, with the barriers and the shared
/// memory of a GPU's thread blocks. The address sanitizer checks their accesses. The thread
/// sanitizer treats them as threads: it finds conflicting accesses without a barrier in between,
/// and conflicting accesses of two blocks of a grid that are not atomic.

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

struct Block;

struct GridShape {
  unsigned blocks, threads;
  std::size_t dynamic_bytes = 0;       ///< of shared memory
  std::size_t most_bytes = 48 * 1024;  ///< of static and dynamic shared memory
};

/// A grid, to be run once. Blocks run one after another, in an order that changes from grid to
/// grid.
class Grid {
 public:
  /// @param enter called before each turn of a thread
  Grid(const GridShape& shape, std::function<void(unsigned block, unsigned thread)> enter,
       std::function<void()> thread);
  ~Grid();

  /// Begins an early launch: the first block runs until it waits for the previous kernel.
  /// @param begin_dependents called when a thread first calls launch_dependents()
  void begin(const std::function<void()>& begin_dependents);
  /// Runs all that remains.
  /// @throws std::logic_error if not all threads of a block or of a warp reach a barrier, or if a
  ///         block has too much shared memory
  void run(const std::function<void()>& begin_dependents = [] {});
  std::size_t most_shared_bytes() const { return shape_.most_bytes; }

 private:
  friend void launch_dependents();
  std::unique_ptr<Block> new_block();
  void run_block(Block& block);

  GridShape shape_;
  std::function<void(unsigned, unsigned)> enter_;
  std::function<void()> thread_, begin_dependents_;
  Turns order_;
  unsigned next_ = 0;             ///< turn of the next block
  std::unique_ptr<Block> early_;  ///< waits for the previous kernel
  bool calls_dependents_ = false;
};

// --- called by fibers ----------------------------------------------------------------------------

/// Waits for all fibers of the block that have not ended; their writes are then visible.
void wait_for_block();
/// Waits for fibers first .. first + count - 1, which must be whole warps without ended fibers;
/// their writes are then visible.
void wait_for_some(unsigned first, unsigned count);
/// Waits for the others of the same 32, none of which may have ended; their writes are then
/// visible.
void wait_for_warp();
/// The same for a shuffle: it does not order memory.
void wait_for_lanes();
/// Waits until the previous kernel has ended if this one was begun before.
void wait_for_previous_kernel();
/// Lets the next kernel begin, if that is an early launch.
void launch_dependents();

/// Numbers that the threads of a block exchange.
struct Exchanged {
  std::array<std::uint64_t, 1024> of_thread;
  bool any;
};
Exchanged& exchanged();

/// Shared memory is allocated for each block, with all bits set: NaN or -1.
unsigned char* dynamic_shared();
/// @param variable identifies a static variable
void* static_shared(const void* variable, std::size_t bytes);
template <class T, class Variable>
T& shared(const Variable&) {
  static char variable;
  return *static_cast<T*>(static_shared(&variable, sizeof(T)));
}

}  // namespace tarn::emulated
