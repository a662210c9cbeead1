#include "load_probe.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "library_words.hpp"

namespace tarn::potentials {
namespace {

constexpr unsigned kLongestLoad_s = 60;

/// A fork has only the calling thread. glibc resets the locks of malloc and of the loader in it, so
/// that it can load a library.
[[noreturn]] void load_in_child(const char* path, int log) {
  // Handlers of this program, such as those for interrupts, are not for the child.
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM, SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::alarm(kLongestLoad_s);
  ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ::_exit(0);
}

}  // namespace

std::string crash_while_loading(const std::string& path) {
  // Neither end blocks: the child may fill the pipe, or leave a process that keeps it open.
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) load_in_child(path.c_str(), pipe[1]);
  int status = 0;
  pid_t ended = -1;
  if (child > 0) {
    do {
      ended = ::waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
  }
  std::array<char, 512> text{};
  const ssize_t size = ::read(pipe[0], text.data(), text.size());
  ::close(pipe[0]);
  ::close(pipe[1]);
  if (ended != child || child <= 0) return {};
  const std::string words =
      size > 0 ? ": " + one_line({text.data(), static_cast<std::size_t>(size)}) : std::string();
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM) {
    return fmt::format("ended the process with signal {} ({}) while it was loaded{}",
                       WTERMSIG(status), ::strsignal(WTERMSIG(status)), words);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    return fmt::format("ended the process with exit status {} while it was loaded{}",
                       WEXITSTATUS(status), words);
  }
  return {};
}

}  // namespace tarn::potentials
