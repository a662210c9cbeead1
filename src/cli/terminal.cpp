#include "terminal.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "observe/warnings.hpp"
#include "run/run_messages.hpp"
#include "tarn/core/error.hpp"
#include "tarn/potential.hpp"
#include "texts.hpp"

namespace tarn::cli {
namespace {

/// Set by the signal handler and read by all threads.
std::atomic<int> g_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  if (g_signal.exchange(signal) == 0) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Columns of the terminal on standard error; 80 if unknown.
std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Whether standard error is a terminal that can erase a line.
bool can_redraw() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

void write_to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void open_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() returns the lowest free descriptor.
    if (::fcntl(number, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) return;
  }
}

std::string molecules_text(int molecules, int beads) {
  const std::string text = count_text(molecules, "molecule");
  return beads == 1 ? text : fmt::format("{} of {} beads", text, beads);
}

std::string aligned_rows(const std::vector<std::vector<std::string>>& rows) {
  // Characters, not bytes: "µs" has three bytes.
  const auto length = [](const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
  };
  if (rows.empty()) return {};
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], length(row[c]));
  }
  std::vector<std::string> lines;
  std::size_t first = 1, last = 1;  // columns of a part
  do {
    std::size_t total = width[0];
    for (last = first; last < width.size(); ++last) {
      total += 2 + width[last];
      if (last > first && total > kTableWidth) break;
    }
    if (first > 1) lines.emplace_back();
    for (const auto& row : rows) {
      std::string line = fmt::format("{:<{}}", row[0], width[0]);
      for (std::size_t c = first; c < std::min(last, row.size()); ++c) {
        line += fmt::format("  {:>{}}", row[c], width[c]);
      }
      lines.push_back(std::move(line));
    }
    first = last;
  } while (last < width.size());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

Terminal::Terminal(bool quiet) : quiet_(quiet), is_terminal_(can_redraw()) {}

Terminal::~Terminal() { close_bar(); }

void Terminal::progress(const Progress& p) {
  if (quiet_) return;
  const ProgressText text(p);
  if (is_terminal_) {
    redraw(text.line(columns()));
  } else if (p.elapsed_seconds >= next_line_seconds_) {
    write_to_stderr(text.full() + "\n");
    next_line_seconds_ = p.elapsed_seconds + std::min(60.0, 0.5 * p.elapsed_seconds + 5.0);
  }
}

void Terminal::preparation_progress(int done, int replicas) {
  if (quiet_) return;
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  if (!next_preparation_line_) next_preparation_line_ = now + (is_terminal_ ? 1s : 10s);
  if (now < *next_preparation_line_) return;
  next_preparation_line_ = now + (is_terminal_ ? 1s : 60s);
  const std::string text =
      replicas == 1 ? "preparing the initial state"
                    : fmt::format("preparing initial states: {} of {} replicas", done, replicas);
  if (is_terminal_) {
    redraw(text.substr(0, columns() - 1));
  } else {
    write_to_stderr(text + "\n");
  }
}

void Terminal::redraw(const std::string& line) {
  write_to_stderr(fmt::format("\r{}\x1b[K", line));
  bar_open_ = true;
}

void Terminal::close_bar() {
  if (bar_open_) write_to_stderr("\n");
  bar_open_ = false;
}

void Terminal::print(const Message& message) {
  if (quiet_ && message.level == Level::note) return;
  close_bar();
  write_to_stderr(fmt::format("{}: {}\n", name_of(message.level), message.text));
}

void Terminal::print(const std::optional<Message>& message) {
  if (message) print(*message);
}

void Terminal::print(const Messages& messages) {
  for (const Message& message : messages) print(message);
}

void Terminal::info(const std::string& text) {
  if (quiet_) return;
  close_bar();
  write_to_stderr(text + "\n");
}

void catch_interrupts() {
  // Batch systems send SIGUSR1 or SIGUSR2 before the end of a job.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    // Keep signals ignored that nohup or a shell's background jobs ignore.
    if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

bool interrupted() { return g_signal != 0; }
int caught_signal() { return g_signal; }
void note_signal(int signal) {
  int none = 0;
  g_signal.compare_exchange_strong(none, signal);
}

int interrupted_exit_code() { return 128 + g_signal; }

Failure failure_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    return {static_cast<int>(ours->code()), ours->what()};
  }
  if (dynamic_cast<const PotentialInterrupted*>(&error) != nullptr) {
    return {interrupted_exit_code(), error.what()};
  }
  const bool is_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return {static_cast<int>(is_memory ? ExitCode::device : ExitCode::io), failure_reason(error)};
}

std::string mean_text(const AveragedQuantity& a) {
  if (is_constant(a)) return fmt::format("{:.6g}", a.mean);
  const int digits = analysis::decimals_for(a.error);
  if (digits > 6 && std::abs(a.mean) < 1e-3) {
    return fmt::format("{:.2e} +- {:.1e}{}", a.mean, a.error, a.converged ? "" : " *");
  }
  return fmt::format("{:.{}f} +- {:.{}f}{}", a.mean, digits, a.error, digits,
                     a.converged ? "" : " *");
}

void print_averages(const std::vector<AveragedQuantity>& averages, const std::string& head,
                    Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{
      {head, "mean", "correlation time / ps", "independent samples"}};
  for (const AveragedQuantity& a : averages) {
    if (is_zero(a)) continue;
    std::vector<std::string> row{a.table + " " + a.quantity, mean_text(a), "-", "-"};
    if (!is_constant(a)) {
      if (a.autocorrelation_ps) row[2] = fmt::format("{:.3g}", *a.autocorrelation_ps);
      row[3] = fmt::format("{:.0f}", a.independent_samples);
    }
    rows.push_back(std::move(row));
  }
  terminal.info(aligned_rows(rows));
}

}  // namespace tarn::cli
