#include "staged_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "tarn/io/atomic_file.hpp"

namespace tarn::io {

namespace fs = std::filesystem;

StagedFolder::StagedFolder(std::string folder)
    : folder_(std::move(folder)), staged_(temporary_name(folder_ + "/new")) {
  make_folder(staged_);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(staged_, ignored);
}

std::string StagedFolder::final_path(const std::string& staged_file) const {
  return folder_ + "/" + fs::path(staged_file).filename().string();
}

void StagedFolder::commit() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(staged_)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) commit_file(file, through_links(final_path(file)));
}

}  // namespace tarn::io
