#include "tarn/io/atomic_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "paths.hpp"
#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

constexpr int kMostLinks = 40;  // the limit of Linux
// Of an AppendFile.
constexpr std::size_t kMostBuffered = 1 << 16;
constexpr std::chrono::seconds kFlushInterval{1};

/// Whether the path is a device, a pipe or a folder, which a new file must not replace.
bool is_no_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::string_view advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space there or choose another folder.";
    case EFBIG:
      return "The file reached the size limit of this shell or disk: raise it (ulimit -f) or write "
             "less often.";
    case EACCES:
    case EPERM:
      return "Change the permissions or choose a folder that you may use.";
    case EROFS:
      return "The disk is read-only: choose another folder.";
    case ENOENT:
      return "Check the name, and that the file and its folder still exist.";
    case ENOTDIR:
    case EEXIST:
      return "A file has the name of a folder that is needed: remove it or choose another name.";
    case EISDIR:
      return "This is a folder: give the name of a file.";
    case EMFILE:
    case ENFILE:
      return "Too many open files: raise the limit (ulimit -n).";
    default:
      return "Check the disk and try again.";
  }
}

}  // namespace

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  while (true) {
    std::string name = fmt::format("{}.{}-{}{}", path, ::getpid(), ++count, kTemporarySuffix);
    std::error_code ignored;
    if (!std::filesystem::exists(name, ignored)) return name;
  }
}

std::string through_links(std::string path) {
  const std::string link = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == kMostLinks) throw_io_error("write", link, ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) throw_io_error("write", link, error.value());
    path = (std::filesystem::path(path).parent_path() / target).string();
  }
  return path;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (is_no_regular_file(path_)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    final_path_ = through_links(path_);
    temporary_path_ = temporary_name(final_path_);
    descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) throw_io_error("write", path_, errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void AtomicFile::write(std::string_view text) {
  if (const int error = write_all(descriptor_, text)) throw_io_error("write", path_, error);
}

void AtomicFile::commit() {
  if (temporary_path_.empty()) {
    if (::close(std::exchange(descriptor_, -1)) != 0) throw_io_error("write", path_, errno);
    return;
  }
  if (::fsync(descriptor_) != 0 || ::rename(temporary_path_.c_str(), final_path_.c_str()) != 0) {
    throw_io_error("write", path_, errno);
  }
  ::close(std::exchange(descriptor_, -1));
  sync_folder_of(final_path_);
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw_io_error("make the folder", path, error.value());
}

void commit_file(const std::string& temporary_path, const std::string& path) {
  const int descriptor = ::open(temporary_path.c_str(), O_RDONLY | O_CLOEXEC);
  int error = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!error && ::rename(temporary_path.c_str(), path.c_str()) != 0) error = errno;
  if (error) {
    ::unlink(temporary_path.c_str());
    throw_io_error("write", path, error);
  }
  sync_folder_of(path);
}

void sync_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int error = descriptor < 0 || ::fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) ::close(descriptor);
  if (error) throw_io_error("write", path, error);
}

std::string read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw_io_error("read", path, errno);
  std::string text;
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored) text.reserve(size);
  char buffer[1 << 16];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, count);
  const int error = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (error) throw_io_error("read", path, error);
  return text;
}

void throw_io_error(std::string_view action, const std::string& path, int error_number) {
  throw IoError(fmt::format("cannot {} '{}': {}. {}", action, path,
                            std::generic_category().message(error_number), advice(error_number)));
}

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
