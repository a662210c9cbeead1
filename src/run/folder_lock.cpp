#include "folder_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/io_error.hpp"

namespace tarn {
namespace {

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

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      excludes_others_(other.excludes_others_) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(excludes_others_, other.excludes_others_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
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
