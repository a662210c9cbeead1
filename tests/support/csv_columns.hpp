#pragma once

#include "tarn/io/csv.hpp"
#include "testing.hpp"

namespace tarn::test {

/// Columns of a table by name; only of tables of numbers.
inline std::map<std::string, std::vector<double>> columns_of(const std::string& path) {
  io::CsvReader csv(path);
  std::map<std::string, std::vector<double>> columns;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      columns[csv.header()[c]].push_back(csv.number(cells[c]));
    }
  }
  return columns;
}

}  // namespace tarn::test
