#include "output_paths.hpp"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io {
namespace {

namespace fs = std::filesystem;

// Errors are ignored here and reported when the file is read or written.

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  const auto place = [&](const std::string& path) {
    return fs::absolute(through_links(path), ignored).lexically_normal();
  };
  return place(a) == place(b) || fs::equivalent(a, b, ignored);
}

bool is_regular_or_absent(const std::string& path) {
  std::error_code ignored;
  return !fs::exists(path, ignored) || fs::is_regular_file(path, ignored);
}

}  // namespace

void check_distinct_paths(const std::vector<std::string>& written,
                          const std::vector<std::string>& read) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string& path = written[i];
    if (path.empty() || !is_regular_or_absent(path)) continue;
    for (const std::string& source : read) {
      if (!is_same_file(path, source)) continue;
      throw InputError(fmt::format(
          "'{}' is an input file and would be overwritten; give the output another name", path));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (written[j].empty() || !is_same_file(path, written[j])) continue;
      throw InputError(
          fmt::format("'{}' would be written twice; give each output a different name", path));
    }
  }
}

}  // namespace tarn::io
