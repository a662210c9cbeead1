#include "custom_observers.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "run_folder.hpp"
#include "tarn/core/error.hpp"

namespace tarn {

std::vector<std::unique_ptr<Observer>> custom_observers(const std::vector<ObserverMaker>& makers,
                                                        const RunInfo& run) {
  std::vector<std::unique_ptr<Observer>> own;
  for (const ObserverMaker& make : makers) {
    if (!make) throw InputError("RunOptions::observers contains an empty function");
    if (std::unique_ptr<Observer> observer = make(run)) own.push_back(std::move(observer));
  }
  return own;
}

std::vector<std::string> files_of(const std::vector<std::unique_ptr<Observer>>& own) {
  std::vector<std::string> files;
  std::set<std::string> known;
  for (const auto& observer : own) {
    for (const std::string& file : observer->files()) {
      const auto refuse = [&](const char* why) {
        throw InputError(
            fmt::format("the observer '{}' cannot write '{}': {}", observer->name(), file, why));
      };
      if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos) {
        refuse("the name is not a plain file name");
      }
      if (is_file_of_runs(file))
        refuse("the run writes a file with this name; choose another name");
      if (!known.insert(file).second) {
        refuse("another observer writes this file; rename one of them");
      }
      files.push_back(file);
    }
  }
  return files;
}

void refuse_equal_names(const std::vector<std::unique_ptr<Observer>>& observers) {
  std::set<std::string> names;
  for (const auto& observer : observers) {
    if (names.insert(observer->name()).second) continue;
    throw InputError(fmt::format(
        "two observers have the name '{}'. Checkpoints need unique names; rename one of "
        "them.",
        observer->name()));
  }
}

}  // namespace tarn
