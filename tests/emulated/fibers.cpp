#include "fibers.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <ucontext.h>
#include <utility>
#include <vector>

#if defined(TARN_TEST_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tarn::emulated {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned kWarp = 32;

enum class Wait { none, warp, some, block, previous, ended };

/// The point at which a stack can be resumed, and the sanitizers' data. For the thread sanitizer
/// each fiber is a thread.
struct Place {
  ucontext_t context;
#if defined(TARN_TEST_THREAD_SANITIZER)
  void* thread = nullptr;
#elif defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
#else
  // A context is entered once, then resumed by jumps: swapcontext calls the kernel each time.
  std::jmp_buf at;
  bool entered = false;
#endif
};

/// The state of a thread in its block.
struct Fiber {
  Wait wait = Wait::none;
  unsigned first = 0, count = 0;  ///< of those that Wait::some waits for
};
struct Stack {
  std::unique_ptr<unsigned char[]> bytes;
  Place place;

  ~Stack() {
#if defined(TARN_TEST_THREAD_SANITIZER)
    if (bytes) __tsan_destroy_fiber(place.thread);
#endif
  }
};

/// The thread sanitizer ignores what happens here: memory of blocks, which it would find in two
/// blocks without an order.
class Unobserved {
 public:
  Unobserved() {
#if defined(TARN_TEST_THREAD_SANITIZER)
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
  }
  ~Unobserved() {
#if defined(TARN_TEST_THREAD_SANITIZER)
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
};

// Memory order for the thread sanitizer: the beginning and the end of grids; in a block its
// barriers, those of some warps (under the number of the first one), and those of a warp; but no
// shuffle.
enum Order : unsigned { of_barrier, of_some, of_warp = of_some + 1024 / kWarp };
constexpr unsigned kOrders = of_warp + 1024 / kWarp;
char of_begin, of_end;

}  // namespace

/// What a block has while it runs.
struct Block {
  std::vector<Fiber> fibers;
  std::deque<Stack> stacks;  // kept from block to block, each where its last run ended; never moved
  unsigned shift = 0;        ///< fiber 0 runs on this stack
  unsigned number = 0;
  Grid* grid = nullptr;
  const std::function<void()>* run = nullptr;
  bool early = false;  ///< the previous kernel has not ended
  Exchanged exchanged{};
  std::size_t shared_bytes = 0;
  std::unique_ptr<unsigned char[]> dynamic;
  std::vector<std::pair<const void*, std::unique_ptr<unsigned char[]>>> statics;
  std::unique_ptr<char[]> orders;

  ~Block() { clear(); }
  Place& place(unsigned fiber) { return stacks[(fiber + shift) % stacks.size()].place; }
  void clear() {
    const Unobserved scope;
    dynamic.reset();
    statics.clear();
    orders.reset();
  }
};

namespace {

std::deque<std::unique_ptr<Block>> idle_blocks;
/// Sets of stacks that take turns. For the thread sanitizer, which orders what runs on one stack,
/// two, so that consecutive blocks are not ordered. It supports no more than 255 threads, so that
/// large blocks have one set, in which thread i of the next block runs on another stack.
std::size_t idle_sets([[maybe_unused]] unsigned threads) {
#if defined(TARN_TEST_THREAD_SANITIZER)
  if (threads <= 64) return 2;
#endif
  return 1;
}
Block* block = nullptr;
Place scheduler;
unsigned current = 0;
std::exception_ptr failure;

/// Memory with all bits set.
std::unique_ptr<unsigned char[]> poisoned(std::size_t bytes) {
  std::unique_ptr<unsigned char[]> memory(new unsigned char[bytes]);
  std::memset(memory.get(), 0xff, bytes);
  return memory;
}

/// Switches to another stack; returns after a jump back.
void jump(Place& from, Place& to) {
#if defined(TARN_TEST_THREAD_SANITIZER)
  __tsan_switch_to_fiber(to.thread, __tsan_switch_to_fiber_no_sync);
  swapcontext(&from.context, &to.context);
#elif defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
  swapcontext(&from.context, &to.context);
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#else
  from.entered = true;
  if (_setjmp(from.at) != 0) return;
  if (to.entered) std::longjmp(to.at, 1);
  setcontext(&to.context);
#endif
}

void happens_before([[maybe_unused]] char& later) {
#if defined(TARN_TEST_THREAD_SANITIZER)
  __tsan_release(&later);
#endif
}
void happens_after([[maybe_unused]] char& earlier) {
#if defined(TARN_TEST_THREAD_SANITIZER)
  __tsan_acquire(&earlier);
#endif
}

void wait(Wait kind) {
  block->fibers[current].wait = kind;
  happens_before(of_end);  // which may be that of all in the midst of their runs
  jump(block->place(current), scheduler);
}

void body() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler.bottom, &scheduler.bytes);
#endif
  for (;;) {
    happens_after(of_begin);
    try {
      (*block->run)();
    } catch (...) {
      failure = std::current_exception();
    }
    wait(Wait::ended);
  }
}

void prepare(Stack& s) {
  if (s.bytes) return;
  s.bytes = std::make_unique_for_overwrite<unsigned char[]>(kStackBytes);
  getcontext(&s.place.context);
  s.place.context.uc_stack.ss_sp = s.bytes.get();
  s.place.context.uc_stack.ss_size = kStackBytes;
  s.place.context.uc_link = nullptr;
  makecontext(&s.place.context, body, 0);
#if defined(TARN_TEST_THREAD_SANITIZER)
  s.place.thread = __tsan_create_fiber(0);
#elif defined(__SANITIZE_ADDRESS__)
  s.place.bottom = s.bytes.get();
  s.place.bytes = kStackBytes;
#endif
}

/// Releases fibers that wait for each other: for a block all that have not ended; else all, because
/// masks include all lanes and barriers of some warps count them.
bool release(std::vector<Fiber>& fibers, unsigned first, unsigned last, Wait kind) {
  unsigned waiting = 0, needed = 0;
  for (unsigned i = first; i < last; ++i) {
    needed += kind != Wait::block || fibers[i].wait != Wait::ended;
    waiting += fibers[i].wait == kind;
  }
  if (waiting == 0 || waiting < needed) return false;
  for (unsigned i = first; i < last; ++i) {
    if (fibers[i].wait == kind) fibers[i].wait = Wait::none;
  }
  return true;
}
bool release_any(std::vector<Fiber>& fibers, unsigned count) {
  bool goes_on = release(fibers, 0, count, Wait::block);
  for (unsigned first = 0; first < count; first += kWarp) {
    const Fiber& f = fibers[first];
    if (f.wait == Wait::some && f.first == first && first + f.count <= count) {
      goes_on = release(fibers, first, first + f.count, Wait::some) || goes_on;
    }
  }
  for (unsigned first = 0; first < count; first += kWarp) {
    goes_on = release(fibers, first, std::min(first + kWarp, count), Wait::warp) || goes_on;
  }
  return goes_on;
}

/// Abandons the fibers in their current state.
[[noreturn]] void give_up(Block& b, const std::exception_ptr& why) {
  happens_after(of_end);
  b.stacks.clear();
  std::rethrow_exception(why);
}
[[noreturn]] void refuse_shared_bytes() { throw std::logic_error("too much shared memory"); }

}  // namespace

Grid::Grid(const GridShape& shape, std::function<void(unsigned block, unsigned thread)> enter,
           std::function<void()> thread)
    : shape_(shape), enter_(std::move(enter)), thread_(std::move(thread)) {
  static unsigned grids = 0;
  order_ = static_cast<Turns>(grids++ % 3);
  if (shape.dynamic_bytes > shape.most_bytes) refuse_shared_bytes();
}
Grid::~Grid() = default;

std::unique_ptr<Block> Grid::new_block() {
  std::unique_ptr<Block> b;
  if (idle_blocks.size() < idle_sets(shape_.threads)) {
    b = std::make_unique<Block>();
  } else if (idle_sets(shape_.threads) > 1) {
    b = std::move(idle_blocks.front());
    idle_blocks.pop_front();
  } else {
    b = std::move(idle_blocks.back());
    idle_blocks.pop_back();
  }
  b->fibers.assign(shape_.threads, {});
  if (b->stacks.size() < shape_.threads) b->stacks.resize(shape_.threads);
  for (Stack& s : b->stacks) prepare(s);
  b->number = turn(order_, next_++, shape_.blocks);
  b->grid = this;
  b->run = &thread_;
#if defined(TARN_TEST_THREAD_SANITIZER)
  ++b->shift;
#endif
  const Unobserved scope;
  b->shared_bytes = shape_.dynamic_bytes;
  b->dynamic = poisoned(shape_.dynamic_bytes);
  b->statics.clear();
  b->orders = std::make_unique<char[]>(kOrders);
  return b;
}

/// Runs a block to its end or, if it is early, until it waits for the previous kernel.
void Grid::run_block(Block& b) {
  const unsigned count = shape_.threads;
  for (;;) {
    unsigned ended = 0, early = 0;
    for (unsigned k = 0; k < count; ++k) {
      const unsigned thread = turn(order_, k, count);
      Fiber& f = b.fibers[thread];
      if (f.wait == Wait::none) {
        block = &b;
        current = thread;
        enter_(b.number, thread);
        jump(scheduler, b.place(thread));
        if (failure) give_up(b, std::exchange(failure, nullptr));
        if (begin_dependents_ && calls_dependents_) std::exchange(begin_dependents_, nullptr)();
      }
      ended += f.wait == Wait::ended;
      early += f.wait == Wait::previous;
    }
    if (ended == count) return;
    if (release_any(b.fibers, count)) continue;
    if (std::any_of(b.fibers.begin(), b.fibers.end(),
                    [](const Fiber& f) { return f.wait == Wait::none; })) {
      continue;
    }
    if (early > 0) return;
    give_up(b, std::make_exception_ptr(std::logic_error("a barrier that not all threads reach")));
  }
}

void Grid::begin(const std::function<void()>& begin_dependents) {
  begin_dependents_ = begin_dependents;
  happens_before(of_begin);
  std::unique_ptr<Block> b = new_block();
  b->early = true;
  run_block(*b);
  early_ = std::move(b);
}

void Grid::run(const std::function<void()>& begin_dependents) {
  begin_dependents_ = begin_dependents;
  calls_dependents_ = false;
#if defined(TARN_TEST_THREAD_SANITIZER)
  scheduler.thread = __tsan_get_current_fiber();
#endif
  happens_before(of_begin);
  while (early_ || next_ < shape_.blocks) {
    std::unique_ptr<Block> b = early_ ? std::move(early_) : new_block();
    if (std::exchange(b->early, false)) {
      for (Fiber& f : b->fibers) {
        if (f.wait == Wait::previous) f.wait = Wait::none;
      }
    }
    run_block(*b);
    b->clear();
    idle_blocks.push_back(std::move(b));
  }
  happens_after(of_end);
}

void wait_for_block() {
  happens_before(block->orders[of_barrier]);
  wait(Wait::block);
  happens_after(block->orders[of_barrier]);
}
void wait_for_some(unsigned first, unsigned count) {
  block->fibers[current].first = first;
  block->fibers[current].count = count;
  happens_before(block->orders[of_some + first / kWarp]);
  wait(Wait::some);
  happens_after(block->orders[of_some + first / kWarp]);
}
void wait_for_lanes() { wait(Wait::warp); }
void wait_for_warp() {
  const unsigned warp = of_warp + current / kWarp;
  happens_before(block->orders[warp]);
  wait(Wait::warp);
  happens_after(block->orders[warp]);
}
void wait_for_previous_kernel() {
  if (!block->early) return;
  wait(Wait::previous);
  happens_after(of_begin);
}
void launch_dependents() {
  if (!std::exchange(block->grid->calls_dependents_, true)) wait(Wait::none);
}

Exchanged& exchanged() { return block->exchanged; }
unsigned char* dynamic_shared() { return block->dynamic.get(); }
void* static_shared(const void* variable, std::size_t bytes) {
  const Unobserved scope;
  for (const auto& [known, memory] : block->statics) {
    if (known == variable) return memory.get();
  }
  block->shared_bytes += bytes;
  if (block->shared_bytes > block->grid->most_shared_bytes()) refuse_shared_bytes();
  return block->statics.emplace_back(variable, poisoned(bytes)).second.get();
}

}  // namespace tarn::emulated
