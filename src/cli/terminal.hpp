#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "tarn/core/message.hpp"
#include "tarn/run.hpp"

namespace tarn::cli {

/// Opens standard input, output and error as /dev/null if they are closed. Otherwise a file that is
/// opened later would get their descriptor, and the messages of the program.
void open_standard_streams();

/// Writes to standard error. Errors, such as those after the terminal was closed, are ignored, so
/// that a run continues.
void write_to_stderr(std::string_view text);

/// Prints the progress of a run to standard error: a bar on a terminal, occasional lines elsewhere,
/// nothing if quiet. Warnings are always printed, notes unless quiet.
class Terminal {
 public:
  explicit Terminal(bool quiet);
  ~Terminal();

  void progress(const Progress& progress);
  /// Progress of the preparation of initial states, printed if it takes long.
  void preparation_progress(int done, int replicas);
  void print(const Message& message);
  void print(const std::optional<Message>& message);
  void print(const Messages& messages);
  void note(const std::string& text) { print(Message::note(text)); }
  void warning(const std::string& text) { print(Message::warning(text)); }
  /// Prints a line, unless quiet.
  void info(const std::string& text);
  /// Ends the line of the bar.
  void close_bar();

 private:
  void redraw(const std::string& line);

  bool quiet_;
  bool is_terminal_;
  bool bar_open_ = false;
  double next_line_seconds_ = 10.0;
  std::optional<std::chrono::steady_clock::time_point> next_preparation_line_;
};

/// Whether a progress line is due: ten seconds after the last line, or after the construction.
class ReportTimer {
 public:
  /// @param forced true: a line is due in any case
  bool operator()(bool forced = false) {
    const Clock::time_point now = Clock::now();
    if (!forced && now < next_) return false;
    next_ = now + kInterval;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{10};
  Clock::time_point next_ = Clock::now() + kInterval;
};

/// Columns of the terminal that a table may need.
inline constexpr std::size_t kTableWidth = 100;
/// The rows of a table as lines with columns of equal width; all but the first are right-aligned.
/// Wider tables are divided into parts, separated by an empty line, which repeat the first column.
/// The last line has no end.
std::string aligned_rows(const std::vector<std::vector<std::string>>& rows);

/// "7 molecules", "7 molecules of 32 beads".
std::string molecules_text(int molecules, int beads);

/// Makes SIGINT, SIGTERM, SIGHUP (terminal closed), SIGUSR1 and SIGUSR2 set a flag, except those
/// that are already ignored. A second signal ends the program immediately.
void catch_interrupts();
bool interrupted();
/// The signal that was caught; 0: none.
int caught_signal();
/// Behaves as if the signal had been caught here. @param signal 0: none
void note_signal(int signal);
/// The exit code that shells report for a program ended by the signal: 130 for SIGINT, 143 for
/// SIGTERM, 129 for SIGHUP, 138 for SIGUSR1 and 140 for SIGUSR2.
int interrupted_exit_code();

/// Exit code and message of the program after an exception.
struct Failure {
  int exit_code;
  std::string message;
};

Failure failure_of(const std::exception& error);

}  // namespace tarn::cli
