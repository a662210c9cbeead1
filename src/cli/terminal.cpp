#include "terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace tarn::cli {
namespace {

volatile std::sig_atomic_t g_signal = 0;

extern "C" void on_signal(int signal) {
  if (g_signal) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  g_signal = signal;
}

/// Columns of the terminal that standard error is; 80 where it does not say.
std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Whether standard error is a terminal that can rub out a line.
bool can_redraw() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second * 1e-6);
  if (per_second >= 1e4) return fmt::format("{:.1f} k", per_second * 1e-3);
  return fmt::format("{:.0f} ", per_second);
}

}  // namespace

std::string duration_text(double seconds) {
  const long s = std::lround(std::max(seconds, 0.0));
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  if (s >= 60) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} s", s);
}

std::string counted(std::int64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], width[0]);
    for (std::size_t c = 1; c < row.size(); ++c) {
      line += fmt::format("  {:>{}}", row[c], width[c]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string progress_line(double done, const std::string& part, const std::string& speed,
                          const std::string& left, std::size_t columns) {
  // A full line would wrap.
  const std::size_t room = columns > 0 ? columns - 1 : 0;
  for (const std::size_t width : {24, 12, 0}) {
    for (const std::string& text : {part + speed + left, part + left}) {
      const std::size_t bar = width > 0 ? width + 3 : 0;
      if (text.size() + bar > room) continue;
      if (bar == 0) return text;
      const auto filled = static_cast<std::size_t>(
          std::lround(static_cast<double>(width) * std::clamp(done, 0.0, 1.0)));
      return fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(width - filled, '.'),
                         text);
    }
  }
  return part.substr(0, room);
}

Terminal::Terminal(bool quiet) : quiet_(quiet), is_terminal_(can_redraw()) {}

Terminal::~Terminal() { close_bar(); }

void Terminal::progress(const Progress& p) {
  if (quiet_) return;
  const double done = p.total_steps > 0 ? static_cast<double>(p.step) / p.total_steps : 1.0;
  const std::string part = fmt::format("{:5.1f} %", 100.0 * done);
  std::string speed = fmt::format("  {}steps/s", rate_text(p.steps_per_second));
  const std::string left =
      p.step < p.total_steps ? fmt::format("  {} left", duration_text(p.seconds_left)) : "";
  if (p.ns_per_day_total > 0.0) {
    speed += fmt::format("  {:.3g} ns/day a replica, {:.3g} in all", p.ns_per_day_per_replica,
                         p.ns_per_day_total);
  }
  const std::string text = part + speed + left;
  if (is_terminal_) {
    redraw(progress_line(done, part, speed, left, columns()));
  } else if (p.elapsed_seconds >= next_line_seconds_) {
    fmt::print(stderr, "{}\n", text);
    next_line_seconds_ = p.elapsed_seconds + std::min(60.0, 0.5 * p.elapsed_seconds + 5.0);
  }
}

void Terminal::making_start(int done, int replicas) {
  if (quiet_) return;
  using namespace std::chrono_literals;
  const auto now = std::chrono::steady_clock::now();
  if (!next_of_start_) next_of_start_ = now + (is_terminal_ ? 1s : 10s);
  if (now < *next_of_start_) return;
  next_of_start_ = now + (is_terminal_ ? 1s : 60s);
  const std::string text = replicas == 1
                               ? "making the start"
                               : fmt::format("making the start: {} of {} replicas", done, replicas);
  if (is_terminal_) {
    redraw(text.substr(0, columns() - 1));
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

void Terminal::redraw(const std::string& line) {
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  bar_open_ = true;
}

void Terminal::close_bar() {
  if (bar_open_) fmt::print(stderr, "\n");
  bar_open_ = false;
}

void Terminal::warning(const std::string& text) {
  close_bar();
  fmt::print(stderr, "note: {}\n", text);
}

void Terminal::say(const std::string& text) {
  if (quiet_) return;
  close_bar();
  fmt::print(stderr, "{}\n", text);
}

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup, and a shell that starts a program in the background, tell it to ignore some.
    if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

bool interrupted() { return g_signal != 0; }

int interrupted_exit_code() { return 128 + g_signal; }

}  // namespace tarn::cli
