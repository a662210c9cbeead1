#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarn::io {

/// Suffix of the names of unfinished files. They remain only if the program is killed.
inline constexpr std::string_view kTemporarySuffix = ".tarn-tmp";

/// An unused name in the folder of `path`, for a file or folder that is renamed to `path` when it
/// is complete. Threads and programs that write the same file at the same time get different names;
/// the last rename wins.
std::string temporary_name(const std::string& path);

/// Follows symbolic links to the file, which need not exist. Returns `path` itself if it is not a
/// link.
/// @throws IoError
std::string through_links(std::string path);

/// A file that appears under its final name only when it is complete.
///
/// It is written under a temporary name in the same folder, synchronised with the disk and renamed.
/// Until commit() returns, an older file of that name is unchanged; without commit() nothing is
/// left behind. A symbolic link is kept, and the file it points to is replaced. Anything other than
/// a regular file, such as /dev/null or a pipe, is written directly.
class AtomicFile {
 public:
  /// @throws IoError if the temporary file cannot be created
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// @throws IoError
  void write(std::string_view text);
  /// Renames the file to its final name. @throws IoError
  void commit();

 private:
  std::string path_;
  std::string final_path_;      // after following links
  std::string temporary_path_;  // empty: not a regular file, written directly
  int descriptor_ = -1;
};

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

/// Writes a whole file atomically. @throws IoError
void write_file(const std::string& path, std::string_view text);

/// Creates a folder and its parents unless they exist. @throws IoError
void make_folder(const std::string& path);

/// Synchronises a finished temporary file with the disk and renames it within its folder. The
/// temporary file is removed if that fails.
/// @param path not a symbolic link, see through_links()
/// @throws IoError
void commit_file(const std::string& temporary_path, const std::string& path);

/// Synchronises a file with the disk. @throws IoError
void sync_file(const std::string& path);

/// The contents of a file, or its first `most` bytes. @throws IoError
std::string read_file(const std::string& path, std::size_t most = -1);

/// Throws the IoError of a failed system call: what failed, where, why and how to mend it.
/// @param action what was tried, as in "cannot <action> '<path>'"
/// @param error_number errno of the failed call
/// @throws IoError always
[[noreturn]] void throw_io_error(std::string_view action, const std::string& path,
                                 int error_number);

}  // namespace tarn::io
