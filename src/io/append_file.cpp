#include "tarn/io/append_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io {
namespace {

constexpr std::size_t kMostBuffered = 1 << 16;
constexpr std::chrono::seconds kFlushInterval{1};

}  // namespace

AppendFile::AppendFile(std::string path) : path_(std::move(path)) {}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)),
      buffer_(std::exchange(other.buffer_, {})),
      overwrite_offset_(other.overwrite_offset_),
      overwrite_(std::exchange(other.overwrite_, {})),
      flushed_(other.flushed_),
      on_disk_(other.on_disk_),
      last_flush_(other.last_flush_) {}

AppendFile::~AppendFile() {
  try {
    flush();
  } catch (...) {  // a destructor must not throw
  }
}

void AppendFile::create() {
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw_io_error("write", path_, errno);
  ::close(descriptor);
  buffer_.clear();
  overwrite_.clear();
  flushed_ = 0;
  on_disk_ = false;
  last_flush_ = std::chrono::steady_clock::now();
}

void AppendFile::cut(std::uint64_t length) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) throw_io_error("continue", path_, errno);
  if (static_cast<std::uint64_t>(status.st_size) < length) {
    throw IoError(fmt::format(
        "cannot continue '{}': it has {} bytes, but {} at the checkpoint. The file was changed "
        "after the checkpoint was written; restore it or restart the run.",
        path_, status.st_size, length));
  }
  if (::truncate(path_.c_str(), static_cast<off_t>(length)) != 0) {
    throw_io_error("continue", path_, errno);
  }
  buffer_.clear();
  overwrite_.clear();
  flushed_ = length;
  on_disk_ = false;
  last_flush_ = std::chrono::steady_clock::now();
}

void AppendFile::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kMostBuffered ||
      std::chrono::steady_clock::now() - last_flush_ >= kFlushInterval) {
    flush();
  }
}

void AppendFile::overwrite(std::uint64_t offset, std::string bytes) {
  overwrite_offset_ = offset;
  overwrite_ = std::move(bytes);
}

void AppendFile::flush() {
  last_flush_ = std::chrono::steady_clock::now();
  if (buffer_.empty() && overwrite_.empty()) return;
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw_io_error("write", path_, errno);
  int error = ::lseek(descriptor, 0, SEEK_END) < 0 ? errno : write_all(descriptor, buffer_);
  if (!error && !overwrite_.empty()) {
    const bool sought = ::lseek(descriptor, static_cast<off_t>(overwrite_offset_), SEEK_SET) >= 0;
    error = sought ? write_all(descriptor, overwrite_) : errno;
  }
  if (error) {
    // Remove the part that was written. If that fails too, the first error is reported.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor, static_cast<off_t>(flushed_));
  }
  ::close(descriptor);
  if (error) throw_io_error("write", path_, error);
  flushed_ += buffer_.size();
  buffer_.clear();
  overwrite_.clear();
  on_disk_ = false;
}

void AppendFile::sync() {
  flush();
  if (on_disk_) return;
  sync_file(path_);
  on_disk_ = true;
}

}  // namespace tarn::io
