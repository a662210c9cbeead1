#include "deck_arguments.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "run/run_messages.hpp"
#include "tarn/core/error.hpp"
#include "terminal.hpp"

namespace tarn::cli {
namespace {

Ranks* g_ranks = nullptr;
std::thread::id g_main_thread;
std::string g_problem;

/// Other commands run in each process alone.
constexpr std::array<std::string_view, 3> kCommandsWithRanks{"run", "compare", "doctor"};

/// Whether --ranks or TARN_RANKS requests processes that run alone. Words that the parser refuses
/// are left to it.
bool runs_alone(const std::vector<std::string>& words) {
  std::string choice;
  if (const char* variable = std::getenv("TARN_RANKS")) choice = variable;
  if (!choice.empty() && choice != "auto" && choice != "off") {
    throw InputError(fmt::format("TARN_RANKS is '{}'; set it to auto or off", choice));
  }
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].starts_with("--ranks=")) choice = words[k].substr(8);
    if (words[k] == "--ranks" && k + 1 < words.size()) choice = words[k + 1];
  }
  return choice == "off";
}

bool uses_ranks(const std::vector<std::string>& words) {
  if (words.empty() ||
      std::ranges::find(kCommandsWithRanks, words[0]) == kCommandsWithRanks.end()) {
    return false;
  }
  const auto only_prints = [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "--list";
  };
  return std::ranges::none_of(words, only_prints) && !runs_alone(words);
}

/// Contents of a deck; empty if the argument does not name a file.
std::string contents_of(const std::string& argument) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(argument, ignored)) return {};
  std::ifstream file(argument, std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(kMost));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// The working folder, by the name that the shell uses: nodes may mount one folder differently.
std::string working_folder() {
  char* const name = ::get_current_dir_name();
  std::string folder = name != nullptr ? name : "";
  std::free(name);
  return folder;
}

/// Reports that the other processes do not join, and ends the program: if they run another command,
/// this process would wait for ever.
class JoinWatch {
 public:
  JoinWatch() : thread_([this] { watch(); }) {}
  JoinWatch(const JoinWatch&) = delete;
  ~JoinWatch() {
    {
      const std::lock_guard lock(mutex_);
      joined_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch() {
    constexpr std::chrono::seconds kNote(10), kEnd(300);
    constexpr const char* kAdvice =
        "If they run other commands, use --ranks off (or TARN_RANKS=off)";
    std::unique_lock lock(mutex_);
    const auto joins_within = [&](std::chrono::seconds time) {
      return changed_.wait_for(lock, time, [this] { return joined_; });
    };
    if (joins_within(kNote)) return;
    write_to_stderr(
        fmt::format("note: waiting for the other processes of this job. {}\n", kAdvice));
    if (joins_within(kEnd - kNote)) return;
    write_to_stderr(
        fmt::format("tarn: the other processes of this job did not join within {} minutes. {}\n",
                    std::chrono::duration_cast<std::chrono::minutes>(kEnd).count(), kAdvice));
    std::_Exit(static_cast<int>(ExitCode::bad_input));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool joined_ = false;
  std::thread thread_;
};

// --- events
// -----------------------------------------------------------------------------------------

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

std::unique_ptr<Ranks> join_ranks(const std::vector<std::string>& words) {
  if (!uses_ranks(words)) return nullptr;
  LaunchedTask task{words, {}, working_folder()};
  for (const std::string& word : words) task.contents.push_back(contents_of(word));
  const JoinWatch watch;
  try {
    return Ranks::launched(task);
  } catch (const InputError& error) {
    if (words[0] != "doctor") throw;
    g_problem = error.what();
    return nullptr;
  }
}

const std::string& ranks_problem() { return g_problem; }

void set_ranks(Ranks* ranks) {
  g_ranks = ranks;
  g_main_thread = std::this_thread::get_id();
}
Ranks* ranks() { return g_ranks; }

bool interrupted_on_any_rank() {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval(200);
  static Clock::time_point next{};
  // Only the main thread may use MPI.
  if (g_ranks != nullptr && !interrupted() && std::this_thread::get_id() == g_main_thread &&
      Clock::now() >= next) {
    note_signal(g_ranks->signal_of_others());
    next = Clock::now() + kInterval;
  }
  return interrupted();
}

EngineMaker engine_maker() { return g_ranks != nullptr ? g_ranks->engine_maker() : EngineMaker{}; }

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
  write(event("started")
            .add("folder", text(start.out_dir))
            .add("device", text(start.device))
            .add("molecules", io::json(std::int64_t{start.molecules}))
            .add("replicas", io::json(std::int64_t{start.replicas}))
            .add("step", io::json(start.first_step))
            .add("total_steps", io::json(start.total_steps)));
}

void Events::progress(const Progress& p) const {
  write(event("progress")
            .add("step", io::json(p.step))
            .add("total_steps", io::json(p.total_steps))
            .add("steps_per_s", io::json(p.steps_per_second))
            .add("ns_per_day_per_replica", io::json(p.ns_per_day_per_replica))
            .add("ns_per_day_total", io::json(p.ns_per_day_total))
            .add("seconds_left", io::json(p.seconds_left)));
}

void Events::message(const Message& message) const {
  write(event(name_of(message.level)).add("text", text(message.text)));
}

void Events::blow_up(const BlowUp& blow_up, const std::string& what) const {
  io::JsonObject object = event("blow_up");
  add_to(object, blow_up, what);
  write(object);
}

void Events::checkpoint(std::int64_t step) const {
  write(event("checkpoint").add("step", io::json(step)));
}

void Events::ended(const std::string& folder, bool interrupted, int exit_code) const {
  write(event(interrupted ? "interrupted" : "finished")
            .add("exit_code", io::json(std::int64_t{exit_code}))
            .add("files", files_in(folder)));
}

void Events::failed(const std::exception& error) const {
  const Failure failure = failure_of(error);
  write(event("failed")
            .add("exit_code", io::json(std::int64_t{failure.exit_code}))
            .add("text", text(failure.message))
            .add("files", folder_.empty() ? "[]" : files_in(folder_)));
}

}  // namespace tarn::cli
