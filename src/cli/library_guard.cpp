#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "command.hpp"
#include "potential/library_call.hpp"
#include "tarn/core/error.hpp"

namespace tarn::cli {
namespace {

using potentials::LibraryCall;

struct Fault {
  int signal;
  const char* name;
};
constexpr std::array<Fault, 5> kFaults{{{SIGSEGV, " (segmentation fault)"},
                                        {SIGBUS, " (bus error)"},
                                        {SIGILL, " (illegal instruction)"},
                                        {SIGFPE, " (arithmetic exception)"},
                                        {SIGABRT, " (abort)"}}};
/// What happened before guard_libraries(), such as a core dump.
std::array<struct sigaction, kFaults.size()> g_actions;
pid_t g_program = 0;  ///< 0: no guard. Children of libraries are other programs

/// "tarn: WHAT with HOW NUMBER MORE". Callable in signal handlers: nothing is allocated.
void report(const char* what, const char* how, int number, const char* more) {
  std::array<char, 512> line;
  const auto end = fmt::format_to_n(line.data(), line.size(), "tarn: {} with {} {}{}\n", what, how,
                                    number, more);
  const std::size_t size = std::min(end.size, line.size());
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), size);
}

void on_fault(int signal, siginfo_t* info, void* /*context*/) {
  const LibraryCall* const call = LibraryCall::of_this_thread();
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    if (kFaults[i].signal != signal) continue;
    const char* const what = LibraryCall::of_any_thread();
    if (what != nullptr && g_program == ::getpid()) {
      // The stack of the call lies below its frame; larger distances are other memory.
      constexpr std::uintptr_t kDeep = std::uintptr_t{1} << 30;
      const auto frame = reinterpret_cast<std::uintptr_t>(call);
      const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
      const bool is_stack = signal == SIGSEGV && address < frame && frame - address < kDeep;
      report(what, "signal", signal,
             is_stack ? " (segmentation fault); likely cause: arrays on the stack that exceed "
                        "`ulimit -s`"
                      : kFaults[i].name);
    }
    ::sigaction(signal, &g_actions[i], nullptr);
  }
  ::raise(signal);
}

/// exit() and _exit() of a library. Returns if the program itself ends.
void end_of_library(int status) {
  if (g_program == 0 || g_program != ::getpid()) return;
  LibraryCall* const call = LibraryCall::of_this_thread();
  if (call != nullptr) call->return_from(status);
  const char* const what = LibraryCall::of_any_thread();
  if (what == nullptr) return;
  report(what, "exit status", status,
         call != nullptr ? "; it must return with an error instead" : " from another thread");
  ::syscall(SYS_exit_group, static_cast<int>(ExitCode::numerical));
}

}  // namespace

void guard_libraries() {
  g_program = ::getpid();
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < kFaults.size(); ++i) {
    ::sigaction(kFaults[i].signal, &action, &g_actions[i]);
  }
}

}  // namespace tarn::cli

// In a program, these replace the functions of the C library for all shared libraries.
extern "C" {
[[noreturn]] void exit(int status) noexcept {
  tarn::cli::end_of_library(status);
  reinterpret_cast<void (*)(int)>(::dlsym(RTLD_NEXT, "exit"))(status);
  std::abort();
}
[[noreturn]] void _exit(int status) {
  tarn::cli::end_of_library(status);
  ::syscall(SYS_exit_group, status);
  std::abort();
}
[[noreturn]] void _Exit(int status) noexcept { ::_exit(status); }
}
