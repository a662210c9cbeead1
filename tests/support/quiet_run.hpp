#pragma once

#include <optional>
#include <string>

#include "tarn/run.hpp"

namespace tarn::test {

/// Options of a run into a folder, without pictures.
inline RunOptions quiet_run(const std::string& out_dir, std::optional<int> threads = {}) {
  RunOptions options;
  options.out_dir = out_dir;
  options.pictures = false;
  options.threads = threads;
  return options;
}

}  // namespace tarn::test
