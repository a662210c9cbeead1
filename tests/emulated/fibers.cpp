#include "fibers.hpp"

#include <algorithm>
#include <csetjmp>
#include <exception>
#include <memory>
#include <stdexcept>
#include <ucontext.h>
#include <utility>
#include <vector>

namespace tarn::emulated {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned kWarp = 32;

enum class Wait { none, warp, block, ended };

// A context is entered once and jumped to from then on: swapcontext asks the kernel each time.
struct Fiber {
  std::unique_ptr<unsigned char[]> stack;
  std::jmp_buf place;
  Wait wait = Wait::none;
  const std::function<void()>* run = nullptr;
};

std::vector<Fiber> fibers;  // kept from block to block, each where its last run ended
std::jmp_buf scheduler;
unsigned current = 0;
std::exception_ptr failure;

void wait(Wait kind) {
  fibers[current].wait = kind;
  if (_setjmp(fibers[current].place) == 0) std::longjmp(scheduler, 1);
}

void body() {
  for (;;) {
    try {
      (*fibers[current].run)();
    } catch (...) {
      failure = std::current_exception();
    }
    wait(Wait::ended);
  }
}

void take_turn(Fiber& f) {
  if (_setjmp(scheduler) != 0) return;
  if (f.stack) std::longjmp(f.place, 1);
  f.stack = std::make_unique<unsigned char[]>(kStackBytes);
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = f.stack.get();
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, body, 0);
  setcontext(&context);
}

/// Lets those go on that wait for each other: for a block all that have not ended, for a warp all,
/// as its masks have all lanes.
bool release(unsigned first, unsigned last, Wait kind) {
  unsigned waiting = 0, needed = 0;
  for (unsigned i = first; i < last; ++i) {
    needed += kind == Wait::warp || fibers[i].wait != Wait::ended;
    waiting += fibers[i].wait == kind;
  }
  if (waiting == 0 || waiting < needed) return false;
  for (unsigned i = first; i < last; ++i) {
    if (fibers[i].wait == kind) fibers[i].wait = Wait::none;
  }
  return true;
}

/// Leaves the fibers where they stand, in the midst of their runs.
[[noreturn]] void give_up(const std::exception_ptr& why) {
  fibers.clear();
  std::rethrow_exception(why);
}

}  // namespace

void run_fibers(unsigned count,
                const std::function<const std::function<void()>&(unsigned number)>& enter,
                bool backwards) {
  if (fibers.size() < count) fibers.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    fibers[i].wait = Wait::none;
    fibers[i].run = nullptr;
  }
  for (;;) {
    unsigned ended = 0;
    for (unsigned k = 0; k < count; ++k) {
      current = backwards ? count - 1 - k : k;
      Fiber& f = fibers[current];
      if (f.wait == Wait::none) {
        const std::function<void()>& run = enter(current);
        if (f.run == nullptr) f.run = &run;
        take_turn(f);
        if (failure) give_up(std::exchange(failure, nullptr));
      }
      ended += f.wait == Wait::ended;
    }
    if (ended == count) return;
    bool goes_on = release(0, count, Wait::block);
    for (unsigned first = 0; first < count; first += kWarp) {
      goes_on = release(first, std::min(first + kWarp, count), Wait::warp) || goes_on;
    }
    if (!goes_on) {
      give_up(std::make_exception_ptr(std::logic_error("a barrier that not all threads reach")));
    }
  }
}

void wait_for_block() { wait(Wait::block); }
void wait_for_warp() { wait(Wait::warp); }

}  // namespace tarn::emulated
