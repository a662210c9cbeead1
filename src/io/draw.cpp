#include "draw.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"

extern char** environ;

namespace tarn::io {
namespace {

constexpr const char* kUsual = "/usr/bin/python3";
/// Modules in the current folder must not replace those of Python.
constexpr const char* kNotHere = "import sys; sys.path[:] = [p for p in sys.path if p]; ";
constexpr const char* kFind =
    "from importlib.util import find_spec as f; sys.exit(not (f('numpy') and f('matplotlib')))";
constexpr const char* kExecute = "exec(compile(sys.stdin.buffer.read(), 'plots.py', 'exec'))";
/// The report is a program that imports the other script.
constexpr const char* kExecuteReport =
    "import types; plots = sys.modules['plots'] = types.ModuleType('plots'); texts = "
    "sys.stdin.buffer.read().split(b'\\0'); exec(compile(texts[0], 'plots.py', 'exec'), "
    "plots.__dict__); exec(compile(texts[1], 'reports.py', 'exec'))";

std::string& preferred_python() {
  static std::string path;
  return path;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The program of that name in PATH, or an empty string.
std::string find_in_path(const std::string& name) {
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + '/' + name;
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate)) {
      return candidate;
    }
  }
  return {};
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// An unnamed temporary file, deleted when it is closed.
File scratch_file() { return {std::tmpfile(), std::fclose}; }

std::string contents_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof part, file)) text.append(part, size);
  return text;
}

/// Runs Python with a program and its standard input. The input is a file instead of a pipe, which
/// would block or raise SIGPIPE if Python ends early.
ScriptResult run_python(const std::string& python, std::vector<std::string> arguments,
                        std::string_view input) {
  const File in = scratch_file(), out = scratch_file(), errors = scratch_file();
  if (!in || !out || !errors ||
      std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() ||
      std::fflush(in.get()) != 0) {
    return {1, "", "no scratch file could be written"};
  }
  ::lseek(::fileno(in.get()), 0, SEEK_SET);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(errors.get()), STDERR_FILENO);
  arguments.insert(arguments.begin(), python);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, python.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {1, "", python + " could not be started"};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1, contents_of(out.get()),
          contents_of(errors.get())};
}

/// Runs the script, and reads the lines that it prints.
/// @param paths_of the path of a picture, from its file name
template <class PathOf>
Pictures draw(std::vector<std::string> arguments, const PathOf& path_of) {
  Pictures pictures;
  const std::string python = python_with_matplotlib();
  if (python.empty()) {
    pictures.failed = true;
    pictures.messages.push_back(
        Message::warning("no pictures: there is no Python with matplotlib. The CSV files are "
                         "complete; install python3-matplotlib (Debian, Ubuntu) or matplotlib "
                         "(pip) and draw those of a run with tarn plot"));
    return pictures;
  }
  arguments.insert(arguments.begin(), {"-c", std::string(kNotHere) + kExecute});
  const ScriptResult ended = run_python(python, std::move(arguments), plot_script());
  const auto fail = [&](const std::string& why) {
    pictures.failed = true;
    pictures.messages.push_back(Message::warning(why + ". The CSV files are complete"));
  };
  std::istringstream lines(ended.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    const std::string kind = line.substr(0, colon);
    const std::string text = line.substr(std::min(colon + 2, line.size()));
    if (kind == "picture") {
      pictures.paths.push_back(path_of(std::filesystem::path(text).filename().string()));
    } else if (kind == "error") {
      fail(text);
    } else {
      pictures.messages.push_back(kind == "note" ? Message::note(text) : Message::warning(text));
    }
  }
  if (ended.exit_code != 0 && !pictures.failed) {
    const std::string errors = ended.errors.substr(0, ended.errors.find_last_not_of('\n') + 1);
    fail(fmt::format("pictures could not be drawn by {}: {}", python,
                     errors.substr(errors.find_last_of('\n') + 1)));
  }
  return pictures;
}

}  // namespace

std::string_view name_of(PictureFormat format) {
  return format == PictureFormat::svg ? "svg" : "png";
}

void use_python(std::string path) { preferred_python() = std::move(path); }

std::string python_with_matplotlib() {
  const std::string chosen = environment("TARN_PICTURES");
  std::vector<std::string> candidates{chosen};
  if (chosen.empty() || chosen == "off") {
    candidates = {preferred_python(), find_in_path("python3"), kUsual};
  }
  for (const std::string& python : candidates) {
    if (python.empty()) continue;
    if (run_python(python, {"-c", std::string(kNotHere) + kFind}, "").exit_code == 0) return python;
  }
  return {};
}

Pictures draw_pictures(const std::string& folder, const PictureFormats& formats) {
  std::vector<std::string> arguments;
  for (const PictureFormat format : formats) {
    arguments.push_back(fmt::format("--format={}", name_of(format)));
  }
  arguments.insert(arguments.end(), {"--", folder});
  return draw(std::move(arguments), [&](const std::string& name) { return folder + '/' + name; });
}

Pictures draw_pictures(const std::string& folder) {
  if (environment("TARN_PICTURES") == "off") return {};
  const std::filesystem::directory_iterator files(folder);
  if (std::none_of(begin(files), end(files),
                   [](const auto& file) { return file.path().extension() == ".csv"; })) {
    return {};
  }
  return draw_pictures(folder, {PictureFormat::svg, PictureFormat::png});
}

Pictures draw_picture(const std::string& file, const std::string& picture) {
  return draw({"--out=" + picture, "--", file}, [&](const std::string&) { return picture; });
}

ScriptResult report(std::vector<std::string> arguments) {
  const std::string python = python_with_matplotlib();
  if (python.empty()) {
    throw IoError(
        "tarn report needs Python 3 with NumPy and matplotlib, which was not found; install "
        "python3-matplotlib (Debian, Ubuntu) or matplotlib (pip)");
  }
  arguments.insert(arguments.begin(), {"-c", std::string(kNotHere) + kExecuteReport});
  std::string scripts(plot_script());
  scripts.append(1, '\0').append(report_script());
  return run_python(python, std::move(arguments), scripts);
}

}  // namespace tarn::io
