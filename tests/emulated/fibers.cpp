#include "fibers.hpp"

#include <ucontext.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

namespace tarn::emulated {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned kWarp = 32;

enum class Wait { none, warp, block, ended };

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<unsigned char[]> stack;
  Wait wait = Wait::none;
  const std::function<void()>* run = nullptr;
};

ucontext_t scheduler;
std::vector<Fiber> fibers;  // kept from block to block, with their stacks
unsigned current = 0;
std::exception_ptr failure;

void body() {
  try {
    (*fibers[current].run)();
  } catch (...) {
    failure = std::current_exception();
  }
  fibers[current].wait = Wait::ended;
  swapcontext(&fibers[current].context, &scheduler);
}

void wait(Wait kind) {
  fibers[current].wait = kind;
  swapcontext(&fibers[current].context, &scheduler);
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

}  // namespace

void run_fibers(unsigned count,
                const std::function<const std::function<void()>&(unsigned number)>& enter,
                bool backwards) {
  if (fibers.size() < count) fibers.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    Fiber& f = fibers[i];
    if (!f.stack) f.stack = std::make_unique<unsigned char[]>(kStackBytes);
    f.wait = Wait::none;
    f.run = nullptr;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStackBytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, body, 0);
  }
  failure = nullptr;
  for (;;) {
    unsigned ended = 0;
    for (unsigned k = 0; k < count; ++k) {
      current = backwards ? count - 1 - k : k;
      Fiber& f = fibers[current];
      if (f.wait == Wait::none) {
        const std::function<void()>& run = enter(current);
        if (f.run == nullptr) f.run = &run;
        swapcontext(&scheduler, &f.context);
        if (failure) std::rethrow_exception(failure);
      }
      ended += f.wait == Wait::ended;
    }
    if (ended == count) return;
    bool goes_on = release(0, count, Wait::block);
    for (unsigned first = 0; first < count; first += kWarp) {
      goes_on = release(first, std::min(first + kWarp, count), Wait::warp) || goes_on;
    }
    if (!goes_on) throw std::logic_error("a barrier that not all threads reach");
  }
}

void wait_for_block() { wait(Wait::block); }
void wait_for_warp() { wait(Wait::warp); }

}  // namespace tarn::emulated
