#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace tarn::io {

/// The cells of a row of a CSV table.
inline void split_cells(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace tarn::io
