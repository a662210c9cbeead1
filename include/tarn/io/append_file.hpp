#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarn::io {

/// A file that grows during a run. A resumed run truncates it to its length at the checkpoint and
/// appends.
///
/// Text is buffered and written about once per second, or earlier if the buffer is full. The file
/// is closed between writes, which permits thousands of such files. A failed write leaves the file
/// at its last complete length.
class AppendFile {
 public:
  /// Stores the name only; create() or cut() must follow.
  explicit AppendFile(std::string path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;
  /// Writes the rest of the buffer and ignores failures; call flush() to detect them.
  ~AppendFile();

  /// Creates an empty file. @throws IoError
  void create();
  /// Truncates a file to `length` bytes, for appending.
  /// @throws IoError if the file is missing or shorter
  void cut(std::uint64_t length);

  /// @throws IoError
  void append(std::string_view text);
  /// Bytes that the next flush writes at `offset`, for example a count in a header. A later call
  /// before that flush replaces them.
  void overwrite(std::uint64_t offset, std::string bytes);
  /// Passes all buffered data to the operating system. @throws IoError
  void flush();
  /// Calls flush() and synchronises the file with the disk. @throws IoError
  void sync();

  const std::string& path() const { return path_; }
  /// Bytes appended so far, including those not yet flushed.
  std::uint64_t length() const { return flushed_ + buffer_.size(); }

 private:
  std::string path_;
  std::string buffer_;
  std::uint64_t overwrite_offset_ = 0;
  std::string overwrite_;  // bytes that the next flush writes there
  std::uint64_t flushed_ = 0;
  bool on_disk_ = true;
  std::chrono::steady_clock::time_point last_flush_{};
};

}  // namespace tarn::io
