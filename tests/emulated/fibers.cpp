#include "fibers.hpp"

#include <algorithm>
#include <csetjmp>
#include <deque>
#include <exception>
#include <memory>
#include <stdexcept>
#include <ucontext.h>
#include <utility>

#if defined(TARN_TEST_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace tarn::emulated {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned kWarp = 32;

enum class Wait { none, warp, some, block, ended };

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

struct Fiber {
  std::unique_ptr<unsigned char[]> stack;
  Place place;
  Wait wait = Wait::none;
  unsigned first = 0, count = 0;  ///< of those that Wait::some waits for
  const std::function<void()>* run = nullptr;

  ~Fiber() {
#if defined(TARN_TEST_THREAD_SANITIZER)
    if (stack) __tsan_destroy_fiber(place.thread);
#endif
  }
};

std::deque<Fiber> fibers;  // kept from block to block, each where its last run ended; never moved
Place scheduler;
unsigned current = 0;
std::exception_ptr failure;

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

// Memory order for the thread sanitizer: the beginning and the end of a block, its barriers, those
// of some warps (under the number of the first one), and those of a warp; but no shuffle.
enum Order : unsigned { of_begin, of_barrier, of_end, of_some, of_warp = of_some + 1024 / kWarp };
[[maybe_unused]] char orders[of_warp + 1024 / kWarp];
void happens_before([[maybe_unused]] unsigned later) {
#if defined(TARN_TEST_THREAD_SANITIZER)
  __tsan_release(&orders[later]);
#endif
}
void happens_after([[maybe_unused]] unsigned earlier) {
#if defined(TARN_TEST_THREAD_SANITIZER)
  __tsan_acquire(&orders[earlier]);
#endif
}

void wait(Wait kind) {
  Fiber& f = fibers[current];
  f.wait = kind;
  happens_before(of_end);  // which may be that of all in the midst of their runs
  jump(f.place, scheduler);
}

void body() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler.bottom, &scheduler.bytes);
#endif
  for (;;) {
    happens_after(of_begin);
    try {
      (*fibers[current].run)();
    } catch (...) {
      failure = std::current_exception();
    }
    wait(Wait::ended);
  }
}

void take_turn(Fiber& f) {
  if (!f.stack) {
    f.stack = std::make_unique<unsigned char[]>(kStackBytes);
    getcontext(&f.place.context);
    f.place.context.uc_stack.ss_sp = f.stack.get();
    f.place.context.uc_stack.ss_size = kStackBytes;
    f.place.context.uc_link = nullptr;
    makecontext(&f.place.context, body, 0);
#if defined(TARN_TEST_THREAD_SANITIZER)
    f.place.thread = __tsan_create_fiber(0);
#elif defined(__SANITIZE_ADDRESS__)
    f.place.bottom = f.stack.get();
    f.place.bytes = kStackBytes;
#endif
  }
  jump(scheduler, f.place);
}

/// Releases fibers that wait for each other: for a block all that have not ended; else all, because
/// masks include all lanes and barriers of some warps count them.
bool release(unsigned first, unsigned last, Wait kind) {
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

/// Abandons the fibers in their current state.
[[noreturn]] void give_up(const std::exception_ptr& why) {
  happens_after(of_end);
  fibers.clear();
  std::rethrow_exception(why);
}

}  // namespace

void run_fibers(unsigned count,
                const std::function<const std::function<void()>&(unsigned number)>& enter,
                Turns order) {
  if (fibers.size() < count) fibers.resize(count);
#if defined(TARN_TEST_THREAD_SANITIZER)
  scheduler.thread = __tsan_get_current_fiber();
#endif
  happens_before(of_begin);
  for (unsigned i = 0; i < count; ++i) {
    fibers[i].wait = Wait::none;
    fibers[i].run = nullptr;
  }
  for (;;) {
    unsigned ended = 0;
    for (unsigned k = 0; k < count; ++k) {
      current = turn(order, k, count);
      Fiber& f = fibers[current];
      if (f.wait == Wait::none) {
        const std::function<void()>& run = enter(current);
        if (f.run == nullptr) f.run = &run;
        take_turn(f);
        if (failure) give_up(std::exchange(failure, nullptr));
      }
      ended += f.wait == Wait::ended;
    }
    if (ended == count) {
      happens_after(of_end);
      return;
    }
    bool goes_on = release(0, count, Wait::block);
    for (unsigned first = 0; first < count; first += kWarp) {
      const Fiber& f = fibers[first];
      if (f.wait == Wait::some && f.first == first && first + f.count <= count) {
        goes_on = release(first, first + f.count, Wait::some) || goes_on;
      }
    }
    for (unsigned first = 0; first < count; first += kWarp) {
      goes_on = release(first, std::min(first + kWarp, count), Wait::warp) || goes_on;
    }
    if (!goes_on) {
      give_up(std::make_exception_ptr(std::logic_error("a barrier that not all threads reach")));
    }
  }
}

void wait_for_block() {
  happens_before(of_barrier);
  wait(Wait::block);
  happens_after(of_barrier);
}
void wait_for_some(unsigned first, unsigned count) {
  fibers[current].first = first;
  fibers[current].count = count;
  happens_before(of_some + first / kWarp);
  wait(Wait::some);
  happens_after(of_some + first / kWarp);
}
void wait_for_lanes() { wait(Wait::warp); }
void wait_for_warp() {
  const unsigned warp = of_warp + current / kWarp;
  happens_before(warp);
  wait(Wait::warp);
  happens_after(warp);
}

}  // namespace tarn::emulated
