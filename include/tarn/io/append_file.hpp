#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarn::io {

/// A file that grows while a run goes on, and that a resumed run cuts back and continues.
///
/// What is appended is gathered and reaches the file about once a second, or sooner when much has
/// come together. No file stays open between writes, so thousands of them can grow at once.
/// A write that fails leaves the file at its last complete length.
class AppendFile {
 public:
  /// Only notes the name; create() or cut() must follow.
  explicit AppendFile(std::string path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;
  /// Writes what is left, silently when that fails: call flush() to know.
  ~AppendFile();

  /// Starts an empty file. @throws IoError
  void create();
  /// Continues a file after its first `length` bytes and drops the rest.
  /// @throws IoError when the file is missing or shorter than that
  void cut(std::uint64_t length);

  /// @throws IoError
  void append(std::string_view text);
  /// Bytes that the next flush puts over those at `offset`, a count in a header for example; a
  /// later call before that replaces them.
  void overwrite(std::uint64_t offset, std::string bytes);
  /// Hands everything to the operating system. @throws IoError
  void flush();
  /// flush(), and brings the file to the disk. @throws IoError
  void sync();

  const std::string& path() const { return path_; }
  /// Bytes appended so far, those not yet flushed among them.
  std::uint64_t length() const { return flushed_ + buffer_.size(); }

 private:
  std::string path_;
  std::string buffer_;
  std::uint64_t overwrite_offset_ = 0;
  std::string overwrite_;  // bytes that the next flush puts there
  std::uint64_t flushed_ = 0;
  bool on_disk_ = true;
  std::chrono::steady_clock::time_point last_flush_{};
};

}  // namespace tarn::io
