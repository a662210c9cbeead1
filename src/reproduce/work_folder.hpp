#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "tarn/io/atomic_file.hpp"

namespace tarn {

/// The name of a temporary folder beside the files of a page. The destructor removes the folder.
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
