#include "readable_path.hpp"

#if defined(__linux__)

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
#include <vector>

#include <fmt/format.h>

#include "system_calls.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/io_error.hpp"

namespace tarn::io {
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
      throw InputError({Problem{path, 0, 0,
                                "more than 4 GiB from a pipe or device: write the data to a file "
                                "and read that"}});
    }
    if (const int error = write_all(to.number(), {buffer.data(), bytes})) {
      throw_io_error("keep in memory", path, error);
    }
  }
  return to.release();
}

}  // namespace

std::string readable_path(const std::string& path) {
  namespace fs = std::filesystem;
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

}  // namespace tarn::io

#else

namespace tarn::io {

std::string readable_path(const std::string& path) { return path; }

}  // namespace tarn::io

#endif
