#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "tarn/io/atomic_file.hpp"

namespace tarn {

/// A name for a folder that a run or a comparison of a page works in, beside the page. The folder
/// is removed with this object, whatever ends it.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& beside) : path_(io::temporary_name(beside)) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace tarn
