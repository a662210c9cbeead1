#pragma once

#include <string>

namespace tarn::io {

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
