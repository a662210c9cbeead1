#pragma once

#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.hpp"

namespace tarn::test {

/// Exit status of a program.
struct Ending {
  bool by_signal = false;
  int code = -1;  ///< exit code, or the number of the signal
};

/// Whether a process handles a signal.
inline bool catches_signal(pid_t process, int number) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string word;
  unsigned long long mask = 0;
  while (status >> word) {
    if (word == "SigCgt:" && status >> std::hex >> mask) break;
  }
  return (mask >> (number - 1) & 1) != 0;
}

/// A program that runs in parallel to the test; it is killed by the destructor if it still runs.
class Program {
 public:
  /// Standard output and error are written to these files, which may be the same.
  /// @param before called in the new process before the program replaces it
  Program(std::vector<std::string> words, const std::string& output_path,
          const std::string& error_path, const std::function<void()>& before = {}) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    id_ = ::fork();
    if (id_ != 0) return;
    // nohup and the background jobs of shells ignore some signals, as then does the program.
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) {
      std::signal(number, SIG_DFL);
    }
    for (const auto& [path, stream] :
         {std::pair{output_path, STDOUT_FILENO}, std::pair{error_path, STDERR_FILENO}}) {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
      if (file < 0 || ::dup2(file, stream) < 0) ::_exit(126);
    }
    if (before) before();
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  Program(const Program&) = delete;
  ~Program() {
    if (id_ <= 0) return;
    signal(SIGKILL);
    wait();
  }

  void signal(int number) const {
    if (id_ > 0) ::kill(id_, number);
  }
  /// Whether it handles a signal.
  bool catches(int number) const { return catches_signal(id_, number); }
  /// The time that it has computed, on all threads, which other load of the machine does not
  /// change.
  double cpu_seconds() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(id_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0.0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  /// Whether it still runs.
  bool runs() {
    if (id_ <= 0) return false;
    if (::waitpid(id_, &status_, WNOHANG) == 0) return true;
    id_ = 0;  // the process has been reaped
    return false;
  }
  Ending wait() {
    if (id_ > 0 && ::waitpid(id_, &status_, 0) != id_) ADD_FAILURE() << "waitpid failed";
    id_ = 0;
    if (WIFSIGNALED(status_)) return {true, WTERMSIG(status_)};
    return {false, WEXITSTATUS(status_)};
  }

 private:
  pid_t id_ = 0;
  int status_ = 0;
};

}  // namespace tarn::test
