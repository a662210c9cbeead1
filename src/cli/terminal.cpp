#include "terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
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

Terminal::Terminal(bool quiet) : quiet_(quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}

Terminal::~Terminal() { close_bar(); }

void Terminal::progress(const Progress& p) {
  if (quiet_) return;
  const double done = p.total_steps > 0 ? static_cast<double>(p.step) / p.total_steps : 1.0;
  std::string text =
      fmt::format("{:5.1f} %  {}steps/s", 100.0 * done, rate_text(p.steps_per_second));
  if (p.ns_per_day_total > 0.0) {
    text += fmt::format("  {:.3g} ns/day a replica, {:.3g} in all", p.ns_per_day_per_replica,
                        p.ns_per_day_total);
  }
  if (p.step < p.total_steps) text += fmt::format("  {} left", duration_text(p.seconds_left));
  if (is_terminal_) {
    constexpr int width = 24;
    const int filled = static_cast<int>(std::lround(width * std::clamp(done, 0.0, 1.0)));
    fmt::print(stderr, "\r[{}{}] {}\x1b[K", std::string(static_cast<std::size_t>(filled), '#'),
               std::string(static_cast<std::size_t>(width - filled), '.'), text);
    std::fflush(stderr);
    bar_open_ = true;
  } else if (p.elapsed_seconds >= next_line_seconds_) {
    fmt::print(stderr, "{}\n", text);
    next_line_seconds_ = p.elapsed_seconds + std::min(60.0, 0.5 * p.elapsed_seconds + 5.0);
  }
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
