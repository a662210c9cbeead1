#pragma once

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

/// The contents of a file. @throws IoError
std::string read_file(const std::string& path);

/// Throws the IoError of a failed system call: what failed, where, why and how to mend it.
/// @param action what was tried, as in "cannot <action> '<path>'"
/// @param error_number errno of the failed call
/// @throws IoError always
[[noreturn]] void throw_io_error(std::string_view action, const std::string& path,
                                 int error_number);

}  // namespace tarn::io
