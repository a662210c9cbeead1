#pragma once

#include "csv_reader.hpp"
#include "testing.hpp"

namespace tarn::test {

/// Columns of a table by name; only of tables of numbers.
inline std::map<std::string, std::vector<double>> columns_of(const std::string& path) {
  test::CsvReader csv(path);
  std::map<std::string, std::vector<double>> columns;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      columns[csv.header()[c]].push_back(csv.number(cells[c]));
    }
  }
  return columns;
}

/// The cells of one column of a table.
inline std::vector<std::string> cells_of(const std::string& path, const std::string& column) {
  test::CsvReader csv(path);
  std::vector<std::string> values;
  for (std::vector<std::string_view> cells; csv.next(cells);) {
    values.emplace_back(cells[csv.column(column)]);
  }
  return values;
}
inline std::vector<double> numbers_of(const std::string& path, const std::string& column) {
  std::vector<double> numbers;
  for (const std::string& cell : cells_of(path, column)) numbers.push_back(std::stod(cell));
  return numbers;
}

}  // namespace tarn::test
