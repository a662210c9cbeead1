#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <vector>

#include "deck_arguments.hpp"
#include "run/run_messages.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

std::string text(std::string_view value) { return io::json(value); }

io::JsonObject event(std::string_view name) {
  io::JsonObject object;
  object.add("event", text(name));
  return object;
}

std::string files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return io::json_strings(files);
}

}  // namespace

Events::Events(bool enabled) : enabled_(enabled) { std::signal(SIGPIPE, SIG_IGN); }

void Events::write(const io::JsonObject& object) const {
  if (!enabled_) return;
  const std::string line = object.line() + '\n';
  const bool whole = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  // A reader that has exited is not an error of this program.
  if ((std::fflush(stdout) != 0 || !whole) && errno == EPIPE) std::clearerr(stdout);
}

void Events::started(const RunStart& start) {
  folder_ = start.out_dir;
  io::JsonObject object = event("started");
  object.add("folder", text(start.out_dir))
      .add("device", text(start.device))
      .add("molecules", io::json(std::int64_t{start.molecules}))
      .add("replicas", io::json(std::int64_t{start.replicas}))
      .add("step", io::json(start.first_step))
      .add("total_steps", io::json(start.total_steps));
  write(object);
}

void Events::progress(const Progress& p) const {
  io::JsonObject object = event("progress");
  object.add("step", io::json(p.step))
      .add("total_steps", io::json(p.total_steps))
      .add("steps_per_s", io::json(p.steps_per_second))
      .add("ns_per_day_per_replica", io::json(p.ns_per_day_per_replica))
      .add("ns_per_day_total", io::json(p.ns_per_day_total))
      .add("seconds_left", io::json(p.seconds_left));
  write(object);
}

void Events::message(const Message& message) const {
  io::JsonObject object = event(name_of(message.level));
  object.add("text", text(message.text));
  write(object);
}

void Events::blow_up(const BlowUp& blow_up, const std::string& what) const {
  io::JsonObject object = event("blow_up");
  add_to(object, blow_up, what);
  write(object);
}

void Events::checkpoint(std::int64_t step) const {
  io::JsonObject object = event("checkpoint");
  object.add("step", io::json(step));
  write(object);
}

void Events::ended(const std::string& folder, bool interrupted, int exit_code) const {
  io::JsonObject object = event(interrupted ? "interrupted" : "finished");
  object.add("exit_code", io::json(std::int64_t{exit_code})).add("files", files_in(folder));
  write(object);
}

void Events::failed(const std::exception& error) const {
  const Failure failure = failure_of(error);
  io::JsonObject object = event("failed");
  object.add("exit_code", io::json(std::int64_t{failure.exit_code}))
      .add("text", text(failure.message))
      .add("files", folder_.empty() ? "[]" : files_in(folder_));
  write(object);
}

}  // namespace tarn::cli
