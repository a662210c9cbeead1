#include "paths.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io {
namespace {

namespace fs = std::filesystem;

// Errors are ignored here and reported when the file is read or written.

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const auto place = [&](const std::string& path) {
    return fs::absolute(through_links(path), ignored).lexically_normal();
  };
  return place(a) == place(b) || fs::equivalent(a, b, ignored);
}

bool is_regular_or_absent(const std::string& path) {
  std::error_code ignored;
  return !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
}

}  // namespace

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

void sync_folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

#if defined(__linux__)
namespace {

// The data of a device may be endless.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

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
  if (from.number() < 0) throw_io_error("read", path, errno);
  Descriptor to(::memfd_create("tarn", MFD_CLOEXEC));
  if (to.number() < 0) throw_io_error("keep in memory", path, errno);
  std::vector<char> buffer(std::size_t{1} << 16);
  std::int64_t all = 0;
  while (const std::size_t bytes = read_some(from.number(), buffer, path)) {
    all += static_cast<std::int64_t>(bytes);
    if (all > kMostBytes) {
      throw InputError(
          path, 0, "more than 4 GiB from a pipe or device: write the data to a file and read that");
    }
    if (const int error = write_all(to.number(), {buffer.data(), bytes})) {
      throw_io_error("keep in memory", path, error);
    }
  }
  return to.release();
}

}  // namespace

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
