#pragma once

#include <string>

namespace tarn::io {

/// A folder whose new files appear together, when all of them are whole. Until commit() older files
/// stay as they were; without it nothing is left behind.
class StagedFolder {
 public:
  /// Makes the folder, where it is not there yet, and one in it for the new files. @throws IoError
  explicit StagedFolder(std::string folder);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  /// Where new files are to be written.
  const std::string& path() const { return staged_; }
  /// Where such a file will be.
  std::string final_path(const std::string& staged_file) const;
  /// Puts the new files into the folder, each in place of an older one of its name. @throws IoError
  void commit();

 private:
  std::string folder_, staged_;
};

}  // namespace tarn::io
