#include "own_observers.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "run_folder.hpp"
#include "tarn/core/error.hpp"

namespace tarn {

std::vector<std::unique_ptr<Observer>> own_observers(const std::vector<ObserverMaker>& makers,
                                                     const RunInfo& run) {
  std::vector<std::unique_ptr<Observer>> own;
  for (const ObserverMaker& make : makers) {
    if (!make) throw InputError("RunOptions::observers has an empty function");
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
        refuse("it is not the name of a file in the folder of the run");
      }
      if (is_file_of_runs(file)) refuse("a run has a file of that name itself; choose another one");
      if (!known.insert(file).second) {
        refuse("another observer writes that file; choose another name for one of them");
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
    throw InputError(
        fmt::format("two observers have the name '{}', by which a checkpoint knows them: give them "
                    "names of their own",
                    observer->name()));
  }
}

}  // namespace tarn
