#include "tarn/io/atomic_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "paths.hpp"
#include "tarn/core/error.hpp"

namespace tarn::io {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the limit of Linux
// Of an AppendFile.
constexpr std::size_t kMostBuffered = 1 << 16;
constexpr std::chrono::seconds kFlushInterval{1};

std::string_view advice(int error_number) {
  struct Advice {
    int number, other;
    std::string_view text;
  };
  for (const auto& [number, other, text] :
       {Advice{ENOSPC, EDQUOT, "Free some space there or choose another folder."},
        {EFBIG, EFBIG,
         "The file reached the size limit of this shell or disk: raise it (ulimit -f) or write "
         "less often."},
        {EACCES, EPERM, "Change the permissions or choose a folder that you may use."},
        {EROFS, EROFS, "The disk is read-only: choose another folder."},
        {ENOENT, ENOENT, "Check the name, and that the file and its folder still exist."},
        {ENOTDIR, EEXIST,
         "A file has the name of a folder that is needed: remove it or choose another name."},
        {EISDIR, EISDIR, "This is a folder: give the name of a file."},
        {EMFILE, ENFILE, "Too many open files: raise the limit (ulimit -n)."}}) {
    if (error_number == number || error_number == other) return text;
  }
  return "Check the disk and try again.";
}

/// An open file that is closed with the object; negative if it could not be opened.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Writes all of a text, in several system calls if necessary.
/// @return 0, or errno of the failed call
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Synchronises the entries of the folder of `path` with the disk, if the file system supports it.
void sync_folder_of(const std::string& path) {
  std::string folder = fs::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened >= 0) ::fsync(opened);
}

// Errors are ignored here and reported when the file is read or written.

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const auto place = [&](const std::string& path) {
    return fs::absolute(through_links(path), ignored).lexically_normal();
  };
  return place(a) == place(b) || fs::equivalent(a, b, ignored);
}

/// False for a device, a pipe or a folder, which a new file must not replace.
bool is_regular_or_absent(const std::string& path) {
  std::error_code ignored;
  return !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
}

#if defined(__linux__)
// The data of a device may be endless.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;

/// Reads the available data, at most the size of the buffer; 0 at the end.
std::size_t read_some(int from, std::vector<char>& buffer, const std::string& path) {
  while (true) {
    const ssize_t bytes = ::read(from, buffer.data(), buffer.size());
    if (bytes >= 0) return static_cast<std::size_t>(bytes);
    if (errno != EINTR) throw_io_error("read", path, errno);
  }
}

/// @return the descriptor of a memory file with all data
int copied(const std::string& path) {
  const Descriptor from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (from < 0) throw_io_error("read", path, errno);
  Descriptor to(::memfd_create("tarn", MFD_CLOEXEC));
  if (to < 0) throw_io_error("keep in memory", path, errno);
  std::vector<char> buffer(std::size_t{1} << 16);
  std::int64_t all = 0;
  while (const std::size_t bytes = read_some(from, buffer, path)) {
    all += static_cast<std::int64_t>(bytes);
    if (all > kMostBytes) {
      throw InputError(
          path, 0, "more than 4 GiB from a pipe or device: write the data to a file and read that");
    }
    if (const int error = write_all(to, {buffer.data(), bytes})) {
      throw_io_error("keep in memory", path, error);
    }
  }
  return to.release();
}

#endif

}  // namespace

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  while (true) {
    std::string name = fmt::format("{}.{}-{}{}", path, ::getpid(), ++count, kTemporarySuffix);
    std::error_code ignored;
    if (!fs::exists(name, ignored)) return name;
  }
}

std::string through_links(std::string path) {
  const std::string link = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(path, error); ++links) {
    if (links == kMostLinks) throw_io_error("write", link, ELOOP);
    const fs::path target = fs::read_symlink(path, error);
    if (error) throw_io_error("write", link, error.value());
    path = (fs::path(path).parent_path() / target).string();
  }
  return path;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (!is_regular_or_absent(path_)) {
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
  fs::create_directories(path, error);
  if (error) throw_io_error("make the folder", path, error.value());
}

void commit_file(const std::string& temporary_path, const std::string& path) {
  const Descriptor file(::open(temporary_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file < 0 || ::fsync(file) != 0 || ::rename(temporary_path.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_path.c_str());
    throw_io_error("write", path, error);
  }
  sync_folder_of(path);
}

void sync_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file < 0 || ::fsync(file) != 0) throw_io_error("write", path, errno);
}

std::string read_file(const std::string& path, std::size_t most) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw_io_error("read", path, errno);
  std::string text;
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(path, ignored);
  if (!ignored) text.reserve(std::min<std::uintmax_t>(size, most));
  char buffer[1 << 16];
  while (const std::size_t count =
             std::fread(buffer, 1, std::min(sizeof buffer, most - text.size()), file)) {
    text.append(buffer, count);
  }
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
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file < 0) throw_io_error("write", path_, errno);
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
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (file < 0) throw_io_error("write", path_, errno);
  int error = ::lseek(file, 0, SEEK_END) < 0 ? errno : write_all(file, buffer_);
  if (!error && !overwrite_.empty()) {
    const bool sought = ::lseek(file, static_cast<off_t>(overwrite_offset_), SEEK_SET) >= 0;
    error = sought ? write_all(file, overwrite_) : errno;
  }
  if (error) {
    // Remove the part that was written. If that fails too, the first error is reported.
    [[maybe_unused]] const int ignored = ::ftruncate(file, static_cast<off_t>(flushed_));
    throw_io_error("write", path_, error);
  }
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

void check_distinct_paths(const std::vector<std::string>& written,
                          const std::vector<std::string>& read) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string& path = written[i];
    if (path.empty() || !is_regular_or_absent(path)) continue;
    for (const std::string& source : read) {
      if (!is_same_file(path, source)) continue;
      throw InputError(fmt::format(
          "'{}' is an input file and would be overwritten; give the output another name", path));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (written[j].empty() || !is_same_file(path, written[j])) continue;
      throw InputError(
          fmt::format("'{}' would be written twice; give each output a different name", path));
    }
  }
}

StagedFolder::StagedFolder(std::string folder)
    : folder_(std::move(folder)), staged_(temporary_name(folder_ + "/new")) {
  make_folder(staged_);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(staged_, ignored);
}

std::string StagedFolder::final_path(const std::string& staged_file) const {
  return folder_ + "/" + fs::path(staged_file).filename().string();
}

void StagedFolder::commit() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(staged_)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) commit_file(file, through_links(final_path(file)));
}

#if defined(__linux__)
std::string readable_path(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (status.type() != fs::file_type::fifo && status.type() != fs::file_type::character) {
    return path;
  }
  static std::mutex mutex;
  static std::map<std::string, int> kept;
  const std::lock_guard lock(mutex);
  auto found = kept.find(path);
  if (found == kept.end()) found = kept.emplace(path, copied(path)).first;
  return fmt::format("/proc/self/fd/{}", found->second);
}
#else
std::string readable_path(const std::string& path) { return path; }
#endif

}  // namespace tarn::io
