#include "tarn/io/plot.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "gnuplot_script.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

extern char** environ;

namespace tarn::io {
namespace {

/// Full path of gnuplot, or an empty string.
std::string find_gnuplot() {
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    const std::string candidate = fmt::format("{}/gnuplot", folders.substr(0, colon));
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate)) {
      return candidate;
    }
    folders = colon == std::string_view::npos ? std::string_view{} : folders.substr(colon + 1);
  }
  return {};
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// An unnamed temporary file, deleted when it is closed.
File scratch_file() { return {std::tmpfile(), std::fclose}; }

/// The reason in an error message of gnuplot. The message quotes the script, marks the position and
/// then contains "line 3: reason", perhaps after warnings. Without such a line the first line is
/// returned.
std::string reason_in(std::FILE* file) {
  std::rewind(file);
  std::string text(4000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::istringstream lines(text);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    const std::size_t colon = line.find(": ");
    if (line.starts_with("line ") && colon != std::string::npos) {
      line.erase(0, line.find_first_not_of(' ', colon + 1));
      if (!line.starts_with("warning: ")) return line;
    }
    if (first.empty()) first = line;
  }
  return first;
}

/// Runs gnuplot on a script. The script is passed in a file instead of a pipe, because a pipe would
/// block or raise SIGPIPE if gnuplot ends early.
/// @return the error, or an empty string
std::string run_gnuplot(const std::string& gnuplot, const std::string& script) {
  const File input = scratch_file();
  const File messages = scratch_file();
  if (!input || !messages ||
      std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fflush(input.get()) != 0) {
    return "no scratch file could be written";
  }
  ::lseek(::fileno(input.get()), 0, SEEK_SET);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(input.get()), STDIN_FILENO);
  // gnuplot draws to standard output if it cannot open its file.
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(messages.get()), STDERR_FILENO);
  std::string name = "gnuplot";
  std::string defaults = "-d";  // ignore the settings of the user
  std::string from_input = "-";
  char* arguments[] = {name.data(), defaults.data(), from_input.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, gnuplot.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return "it could not be started";

  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string said = reason_in(messages.get());
  return said.empty() ? "it failed" : said;
}

void set_spread(const std::vector<double>& about, std::span<const double> error,
                std::vector<double>& low, std::vector<double>& high) {
  low = about;
  high = about;
  for (std::size_t i = 0; i < about.size(); ++i) {
    low[i] -= error[i];
    high[i] += error[i];
  }
}

}  // namespace

void Series::set_error(std::span<const double> error) { set_spread(y, error, low, high); }

void Series::set_x_error(std::span<const double> error) {
  std::vector<double> known(error.begin(), error.end());
  for (double& e : known) e = std::isfinite(e) ? e : 0.0;
  if (std::any_of(known.begin(), known.end(), [](double e) { return e > 0.0; })) {
    set_spread(x, known, x_low, x_high);
  }
}

bool can_draw() { return !find_gnuplot().empty(); }

std::string_view extension_of(PictureFormat format) {
  return format == PictureFormat::svg ? ".svg" : ".png";
}

Drawing draw(const Plot& plot, const std::string& path_without_extension,
             const PictureFormats& formats) {
  return draw(std::vector<Plot>{plot}, path_without_extension, formats);
}

Drawing draw(const std::vector<Plot>& plots, const std::string& path_without_extension,
             const PictureFormats& formats) {
  Drawing drawing;
  const std::string gnuplot = find_gnuplot();
  if (gnuplot.empty()) {
    drawing.warning =
        "no pictures: gnuplot is not installed. The CSV files are complete; install gnuplot-nox "
        "and draw again, those of a run by tarn plot.";
    return drawing;
  }
  for (const PictureFormat format : formats) {
    const std::string path = path_without_extension + std::string(extension_of(format));
    const std::string final_path = through_links(path);
    const std::string temporary = temporary_name(final_path);
    std::string problem = run_gnuplot(gnuplot, gnuplot_script(plots, format, temporary));
    if (problem.empty() && !std::filesystem::exists(temporary)) problem = "it wrote nothing";
    if (!problem.empty()) {
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      drawing.warning = fmt::format("gnuplot could not draw '{}': {}. The CSV files are complete.",
                                    path, problem);
      return drawing;
    }
    try {
      commit_file(temporary, final_path);
    } catch (const tarn::IoError& error) {
      drawing.warning = fmt::format("{}. The CSV files are complete.", error.what());
      return drawing;
    }
    drawing.paths.push_back(path);
  }
  return drawing;
}

}  // namespace tarn::io
