#pragma once

#include <string>
#include <string_view>

namespace tarn::io {

/// Ends the name of a file that is still being written; only a killed program leaves one behind.
inline constexpr std::string_view kTemporarySuffix = ".tarn-tmp";

/// A name beside `path` that nobody uses: for a file or folder that is to take its place when it is
/// whole. Programs, and threads of them, that make the same file at the same time have names of
/// their own; the one that is done last is there in the end.
std::string temporary_name(const std::string& path);

/// The file at the end of symbolic links, which need not exist; `path` itself where it is no link.
/// @throws IoError
std::string through_links(std::string path);

/// A file that appears under its name only when it is complete.
///
/// It is written beside the final name, brought to the disk and then renamed. Until commit()
/// returns, an older file of that name stays as it was; without commit() nothing is left behind. A
/// link stays, and the file that it leads to is the one; what is no file, /dev/null or a pipe, is
/// written to as it stands.
class AtomicFile {
 public:
  /// @throws IoError when the temporary file cannot be made
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// @throws IoError
  void write(std::string_view text);
  /// Puts the file under its final name. @throws IoError
  void commit();

 private:
  std::string path_;
  std::string final_path_;      // at the end of the links
  std::string temporary_path_;  // empty: what is there is written to
  int descriptor_ = -1;
};

/// Writes a whole file atomically. @throws IoError
void write_file(const std::string& path, std::string_view text);

/// Makes a folder and those above it, where they are not there yet. @throws IoError
void make_folder(const std::string& path);

/// Renames a finished temporary file in the same folder, after bringing it to the disk.
/// @param path no link, see through_links()
/// The temporary file is removed when that fails. @throws IoError
void commit_file(const std::string& temporary_path, const std::string& path);

/// Brings a file to the disk. @throws IoError
void sync_file(const std::string& path);

/// The whole file. @throws IoError
std::string read_file(const std::string& path);

}  // namespace tarn::io
