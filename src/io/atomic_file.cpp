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

#include "system_calls.hpp"
#include "tarn/io/io_error.hpp"

namespace tarn::io {
namespace {

constexpr int kMostLinks = 40;  // the limit of Linux

/// Whether the path is a device, a pipe or a folder, which a new file must not replace.
bool is_no_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
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

}  // namespace tarn::io
