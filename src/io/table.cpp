#include "tarn/io/table.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "csv_cells.hpp"
#include "tarn/io/csv.hpp"

namespace tarn::io {
namespace {

/// Reads all of a cell. @return whether it is a number of that type
template <class T>
bool read_all(std::string_view cell, T& value) {
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc{} && end == cell.data() + cell.size();
}

/// Adds a cell; a cell of another kind changes that of the column.
void add(std::string_view cell, TableColumn& column) {
  if (column.kind == TableColumn::Kind::integer) {
    std::int64_t value = 0;
    if (read_all(cell, value)) return column.integers.push_back(value);
    column.kind = TableColumn::Kind::number;
    column.numbers.assign(column.integers.begin(), column.integers.end());
  }
  if (column.kind == TableColumn::Kind::number) {
    double value = 0.0;
    if (read_all(cell, value)) return column.numbers.push_back(value);
    column.kind = TableColumn::Kind::text;
    for (const double number : column.numbers) column.texts.push_back(exact(number));
  }
  column.texts.emplace_back(cell);
}

Table empty_table(const std::string& provenance, const std::vector<std::string>& header) {
  Table table{provenance, 0, {}};
  for (const std::string& name : header) table.columns.push_back({name});
  return table;
}

void add_row(const std::vector<std::string_view>& cells, Table& table) {
  for (std::size_t c = 0; c < cells.size(); ++c) add(cells[c], table.columns[c]);
  ++table.rows;
}

/// Frees the numbers that columns of another kind had at first.
Table finished(Table table) {
  for (TableColumn& column : table.columns) {
    if (column.kind != TableColumn::Kind::integer) column.integers = {};
    if (column.kind != TableColumn::Kind::number) column.numbers = {};
  }
  return table;
}

}  // namespace

Table read_table(const std::string& path) {
  CsvReader reader(path);
  Table table = empty_table(reader.provenance(), reader.header());
  for (std::vector<std::string_view> cells; reader.next(cells);) add_row(cells, table);
  return finished(std::move(table));
}

Table parse_table(std::string_view text) {
  const auto next_line = [&] {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
  };
  const std::string provenance(next_line().substr(1));
  std::vector<std::string_view> cells;
  split_cells(next_line(), cells);
  Table table = empty_table(provenance, {cells.begin(), cells.end()});
  while (!text.empty()) {
    split_cells(next_line(), cells);
    add_row(cells, table);
  }
  return finished(std::move(table));
}

}  // namespace tarn::io
