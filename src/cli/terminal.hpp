#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/run.hpp"

namespace tarn::cli {

/// Opens standard input, output and error as /dev/null where who started the program closed them:
/// a file that is opened later would get their number, and what is said.
void open_standard_streams();

/// Writes to standard error. What cannot be written, as when the terminal was closed, is lost: no
/// run ends for it.
void say_on_stderr(std::string_view text);

/// Shows the progress of a run: a bar that is drawn anew on a terminal, a plain line now and then
/// elsewhere, nothing when quiet. Warnings are always shown. Everything goes to standard error.
class Terminal {
 public:
  explicit Terminal(bool quiet);
  ~Terminal();

  void progress(const Progress& progress);
  /// Told while the start is made; says so where that takes some time.
  void making_start(int done, int replicas);
  void warning(const std::string& text);
  /// A line that --quiet leaves out.
  void say(const std::string& text);
  /// Ends the line of the bar.
  void close_bar();

 private:
  void redraw(const std::string& line);

  bool quiet_;
  bool is_terminal_;
  bool bar_open_ = false;
  double next_line_seconds_ = 10.0;
  std::optional<std::chrono::steady_clock::time_point> next_of_start_;
};

/// Says when ten seconds have passed since the last line of a long search, or since it began.
class NowAndThen {
 public:
  /// @param anyway true: a line is due in any case
  bool operator()(bool anyway = false) {
    const Clock::time_point now = Clock::now();
    if (!anyway && now < next_) return false;
    next_ = now + kInterval;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{10};
  Clock::time_point next_ = Clock::now() + kInterval;
};

/// The rows of a table as lines, columns padded to equal width, all but the first to the right.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

/// "1 frame", "2 frames".
std::string counted(std::int64_t n, const char* what);

/// Makes SIGINT, SIGTERM, SIGHUP (the end of the terminal), SIGUSR1 and SIGUSR2 set a flag, but
/// those that are ignored already; a second signal ends the program at once.
void catch_interrupts();
bool interrupted();
/// That of a program which the signal ended, as shells give it: 130 for SIGINT, 143 for
/// SIGTERM, 129 for SIGHUP, 138 and 140 for the last two.
int interrupted_exit_code();

}  // namespace tarn::cli
