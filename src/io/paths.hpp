#pragma once

#include <string>
#include <vector>

namespace tarn::io {

/// Checks that no file would be written twice and no input overwritten. Pipes and devices may be
/// written more than once.
/// @param written names of output files; an empty name stands for no file
/// @param read names of input files
/// @throws InputError
void check_distinct_paths(const std::vector<std::string>& written,
                          const std::vector<std::string>& read);

/// A path under which a file can be opened repeatedly. For regular files this is the path itself.
/// Pipes and terminals deliver their data only once: the first call copies them to memory, where
/// they remain until the program ends, and returns the path of the copy.
/// @throws IoError; InputError for more than 4 GiB
std::string readable_path(const std::string& path);

/// A folder whose new files appear together, after all are complete. Until commit() older files are
/// unchanged; without it nothing is left behind.
class StagedFolder {
 public:
  /// Creates the folder, unless it exists, and a temporary one in it for the new files. @throws
  /// IoError
  explicit StagedFolder(std::string folder);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  /// Folder for writing the new files.
  const std::string& path() const { return staged_; }
  /// Path of a file after commit().
  std::string final_path(const std::string& staged_file) const;
  /// Moves the new files to the folder; they replace older files of the same name. @throws IoError
  void commit();

 private:
  std::string folder_, staged_;
};

}  // namespace tarn::io
