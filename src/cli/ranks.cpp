#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "deck_arguments.hpp"
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

}  // namespace tarn::cli
