#include "library_call.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

namespace tarn::potentials {
namespace {

thread_local LibraryCall* t_call = nullptr;
std::atomic<const char*> g_what = nullptr;

/// A stack for signal handlers of this thread, whose own one a library may use up.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t old{};
    if (::sigaltstack(nullptr, &old) != 0 || (old.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<Memory>();
    stack_t own{};
    own.ss_sp = memory_->data();
    own.ss_size = memory_->size();
    ::sigaltstack(&own, nullptr);
  }
  ~HandlerStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (memory_) ::sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  using Memory = std::array<char, 65536>;
  std::unique_ptr<Memory> memory_;
};

}  // namespace

LibraryCall::LibraryCall(const std::string& what)
    : what_(what), outer_(t_call), folder_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  thread_local const HandlerStack handler_stack;
  t_call = this;
  g_what = what.c_str();
}
LibraryCall::~LibraryCall() {
  t_call = outer_;
  g_what = outer_ != nullptr ? outer_->what_.c_str() : nullptr;
  if (folder_ < 0) return;
  [[maybe_unused]] const int restored = ::fchdir(folder_);
  ::close(folder_);
}

LibraryCall* LibraryCall::of_this_thread() { return t_call; }
const char* LibraryCall::of_any_thread() { return g_what; }

void LibraryCall::return_from(int exit_status) {
  if (!can_return_) return;
  exit_status_ = exit_status;
  siglongjmp(back_, 1);
}

void LibraryCall::throw_ended() const {
  throw NumericalError(fmt::format("{} with exit status {}; it must return with an error instead",
                                   what_, exit_status_));
}

}  // namespace tarn::potentials
