#include "run_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/formats.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {
namespace {

namespace fs = std::filesystem;

/// Whether `name` equals `pattern`. If `pattern` ends with '-', whether `name` is `pattern`
/// followed by digits and the extension of a trajectory.
bool matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('-')) return name == pattern;
  if (!name.starts_with(pattern)) return false;
  name.remove_prefix(pattern.size());
  const std::string_view extension = name.substr(std::min(name.find('.'), name.size()));
  const std::string_view digits = name.substr(0, name.size() - extension.size());
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos &&
         std::any_of(io::formats().begin(), io::formats().end(), [&](const io::Format& format) {
           return format.extensions.front() == extension;
         });
}

/// Patterns, for matches(), of all files that a run may write.
std::vector<std::string> run_file_patterns() {
  std::vector<std::string> patterns = observer_file_names();
  patterns.insert(patterns.end(), {"checkpoint.bin", "run.json", "blow-up-", "blow-up-0000.csv"});
  return patterns;
}

bool is_one_of(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(name, pattern); });
}

/// Files of a run in the folder, in a safe order of removal: the checkpoint first, because it
/// refers to the others, and the record last: it identifies a partly cleared folder as a run.
std::vector<std::string> run_files_in(const std::string& folder) {
  const std::vector<std::string> patterns = run_file_patterns();
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_one_of(patterns, name)) files.push_back(name);
  }
  const auto rank = [](const std::string& name) {
    return name == "checkpoint.bin" ? 0 : name == "run.json" ? 2 : 1;
  };
  std::sort(files.begin(), files.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
  return files;
}

/// Requires that the folder or, if it does not exist, its nearest existing parent is writable.
void check_writable(const std::string& folder) {
  std::error_code ignored;
  fs::path path = fs::absolute(folder);
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  if (!fs::is_directory(path, ignored)) io::throw_io_error("write into", path.string(), ENOTDIR);
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    io::throw_io_error("write into", path.string(), errno);
  }
}

/// Whether the open file still has this name: its last owner may have removed it between open() and
/// flock().
bool is_file_of(int descriptor, const std::string& path) {
  struct stat open_file {
  }, named_file{};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

/// Requests the lock. @return 0, or errno: EWOULDBLOCK if another process has it, otherwise the
/// file system has no locks
int request_lock(int descriptor) {
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

RunFolder::RunFolder(const Deck& deck, const RunOptions& options)
    : resume_(options.resume),
      overwrite_(options.overwrite),
      path_(options.out_dir.empty() ? "out/" + deck.name : options.out_dir) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (resume_ && overwrite_) {
    throw InputError("--resume and --overwrite are mutually exclusive; use one of them");
  }
  // Resuming a finished run only reports that it is finished, even in a read-only folder.
  if (!resume_) check_writable(path_);
  std::error_code ignored;
  if (fs::is_directory(path_, ignored) && ::access(path_.c_str(), W_OK) == 0) {
    lock_.emplace(path_);
  }
  if (!resume_) refuse_to_replace_start(deck);
  check_contents();
}

void RunFolder::refuse_to_replace_start(const Deck& deck) const {
  std::error_code ignored;
  std::vector<std::string> starts;
  if (const auto state = state_path(deck)) starts.push_back(*state);
  for (const StructureSource& source : structure_sources(deck)) starts.push_back(source.path);
  for (const std::string& start : starts) {
    for (const std::string& name : run_files_in(path_)) {
      if (!fs::equivalent(file(name), start, ignored)) continue;
      throw InputError(fmt::format(
          "'{}' contains {}, from which this run starts and which it would replace. Choose another "
          "folder with --out.",
          path_, name));
    }
  }
}

void RunFolder::check_contents() {
  const std::vector<std::string> files = run_files_in(path_);
  std::error_code ignored;
  if (fs::exists(file("compare.json"), ignored)) {
    throw InputError(fmt::format(
        "'{}' contains a comparison, which the run would overwrite; choose another folder with "
        "--out",
        path_));
  }
  if (resume_) {
    resumes_ = std::ranges::find(files, "checkpoint.bin") != files.end();
    if (!resumes_ && !files.empty()) {
      throw InputError(fmt::format(
          "cannot resume in '{}': the run there has no checkpoint.bin. Restart it with --overwrite "
          "instead of --resume; [checkpoint] every sets the steps between checkpoints.",
          path_));
    }
    if (!resumes_) {
      throw InputError(fmt::format(
          "nothing to resume in '{}': it contains no checkpoint.bin. Omit --resume to start a run, "
          "or give the folder of the run with --out.",
          path_));
    }
  } else if (!files.empty() && !overwrite_) {
    throw InputError(fmt::format(
        "'{}' already contains a run ({}). Continue it with --resume, replace it with --overwrite, "
        "or choose another folder with --out.",
        path_, files.front()));
  }
}

void RunFolder::prepare(const std::vector<std::string>& own) {
  check_writable(path_);
  io::make_folder(path_);
  if (!lock_) {
    lock_.emplace(path_);
    check_contents();  // another run may have started since
  }
  std::error_code error;
  std::vector<std::string> earlier;
  if (!resumes_) {
    earlier = run_files_in(path_);
    earlier.insert(earlier.end(), own.begin(), own.end());
  }
  for (const std::string& name : earlier) {
    fs::remove(file(name), error);
    if (error) io::throw_io_error("remove", file(name), error.value());
  }
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(path_, error)) leftovers.push_back(entry.path());
  for (const fs::path& leftover : leftovers) {
    if (!leftover.string().ends_with(io::kTemporarySuffix)) continue;
    fs::remove_all(leftover, error);  // temporary folders too
    if (error) io::throw_io_error("remove", leftover.string(), error.value());
  }
}

bool is_file_of_runs(const std::string& name) { return is_one_of(run_file_patterns(), name); }

std::string blow_up_file_name(std::int64_t replica) {
  return fmt::format("blow-up-{:04}.xyz", replica);
}

FolderLock::FolderLock(const std::string& folder) : path_(folder + "/.tarn-lock") {
  // Each further attempt means that another owner has just removed the file; if it never ends, the
  // file system gives one file different numbers.
  constexpr int kAttempts = 20;
  for (int attempt = 1;; ++attempt) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) io::throw_io_error("write", path_, errno);
    const int problem = request_lock(descriptor_);
    if (problem == EWOULDBLOCK) {
      ::close(std::exchange(descriptor_, -1));
      throw InputError(fmt::format(
          "another tarn process is writing to '{}'. Wait for it, stop it, or choose another folder "
          "with --out.",
          folder));
    }
    if (problem == 0 && is_file_of(descriptor_, path_)) return;
    excludes_others_ = problem == 0 && attempt < kAttempts;
    if (!excludes_others_) return;
    ::flock(descriptor_, LOCK_UN);  // some file systems release it later than close()
    ::close(std::exchange(descriptor_, -1));
  }
}

FolderLock::~FolderLock() {
  ::unlink(path_.c_str());  // while the lock is held: the file cannot belong to another run
  ::close(descriptor_);
}

std::optional<Message> FolderLock::note() const {
  if (excludes_others_) return std::nullopt;
  return Message::note(fmt::format(
      "'{}' cannot be locked on this file system: a second run in the folder would not be detected",
      path_));
}

}  // namespace tarn
