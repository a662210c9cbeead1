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

/// @return whether another process has the lock; false on file systems without locks
bool is_locked_by_another(int descriptor) {
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result != 0 && errno == EWOULDBLOCK;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder) : path_(folder + "/.tarn-lock") {
  while (true) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) io::throw_io_error("write", path_, errno);
    if (is_locked_by_another(descriptor_)) {
      ::close(std::exchange(descriptor_, -1));
      throw InputError(fmt::format(
          "another tarn process is writing to '{}'. Wait for it, stop it, or choose another folder "
          "with --out.",
          folder));
    }
    if (is_file_of(descriptor_, path_)) return;
    ::close(std::exchange(descriptor_, -1));
  }
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());  // while the lock is held: the file cannot belong to another run
  ::close(descriptor_);
}

}  // namespace tarn
