#pragma once

#include "csv_reader.hpp"
#include "testing.hpp"

/// @file
/// Tables that the program prints, compared with the files that it writes, cell by cell.

namespace tarn::test {

/// Cells of a line, which are separated by at least two spaces.
inline std::vector<std::string> cells_of_line(const std::string& line) {
  std::vector<std::string> cells;
  if (line.starts_with(' ')) cells.emplace_back();  // an empty first cell
  for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
    const std::size_t end = line.find("  ", at);
    cells.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(' ', std::min(end, line.size()));
  }
  return cells;
}

/// Number of characters of a UTF-8 text.
inline std::size_t characters_of(const std::string& text) {
  std::size_t n = 0;
  for (const char c : text) n += (c & 0xC0) != 0x80;
  return n;
}

/// The printed tables whose first heading is this one; a table in several parts is several tables.
inline std::vector<std::vector<std::vector<std::string>>> printed_tables(
    const std::string& text, const std::string& first_heading) {
  std::vector<std::vector<std::vector<std::string>>> tables;
  std::istringstream lines(text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = cells_of_line(line);
    if (line.starts_with(first_heading + ' ') && cells.size() > 1 && cells[0] == first_heading) {
      tables.emplace_back();
      inside = true;
    }
    inside = inside && cells.size() == (tables.back().empty() ? cells : tables.back()[0]).size();
    if (!inside) continue;
    EXPECT_LE(characters_of(line), 100u) << line;
    tables.back().push_back(cells);
  }
  return tables;
}

/// The number in a file: by the first cell of a printed row, and the name of a column; NaN: none.
using NumberOf = std::function<double(const std::string& label, const std::string& column)>;
/// The column in the file of each number of a cell, by heading. "100 *name": in per cent.
using ColumnsOf = std::map<std::string, std::vector<std::string>>;

/// Compares the numbers of a cell, each within half a unit of its last digit.
inline void expect_cell(const std::string& cell, const std::string& label,
                        const std::vector<std::string>& columns, const NumberOf& number_of) {
  std::istringstream words(cell);
  std::size_t next = 0;
  // A cell without numbers may have an error, such as the noise of a difference of 0.
  const std::size_t end_of_columns =
      cell == "-" ? std::min<std::size_t>(1, columns.size()) : columns.size();
  for (std::string word; words >> word;) {
    if (word.ends_with(',')) word.pop_back();
    const bool is_missing = word == "-" || word == "?";
    const std::size_t first = word.find_first_of("0123456789");
    if (!is_missing && (first == std::string::npos || first > 1)) continue;  // "+-", "(mean)"
    ASSERT_LT(next, columns.size()) << label << ": " << cell;
    std::string column = columns[next++];
    const bool per_cent = column.starts_with("100 *");
    if (per_cent) column = column.substr(5);
    const double expected = (per_cent ? 100.0 : 1.0) * number_of(label, column);
    if (is_missing) {
      EXPECT_TRUE(!std::isfinite(expected) || expected == 0.0)
          << label << ", " << column << ": " << cell << " is not " << expected;
      continue;
    }
    char* end = nullptr;
    const double printed = std::strtod(word.c_str(), &end);
    const std::size_t point = word.find('.'), exponent = word.find('e');
    const std::size_t digits_end =
        std::min(word.find_first_not_of("0123456789", point + 1), word.size());
    const double decimals =
        point < word.size() ? static_cast<double>(digits_end - point) - 1.0 : 0.0;
    const double power = exponent < word.size() ? std::atof(word.c_str() + exponent + 1) : 0.0;
    const double unit = std::pow(10.0, power - decimals);
    EXPECT_NEAR(printed, expected, 0.5 * unit * (1.0 + 1e-6))
        << label << ", " << column << ": " << cell;
  }
  // Numbers at the end that are not printed are unknown.
  for (; next < end_of_columns; ++next) {
    const double left = number_of(label, columns[next]);
    EXPECT_TRUE(!std::isfinite(left) || left == 0.0)
        << label << ", " << columns[next] << ": " << cell << " has no " << left;
  }
}

/// Compares all cells of the printed tables with this first heading. Each heading needs columns.
/// @return number of tables
inline std::size_t expect_printed(const std::string& text, const std::string& first_heading,
                                  const ColumnsOf& columns_of, const NumberOf& number_of) {
  const auto tables = printed_tables(text, first_heading);
  for (const auto& table : tables) {
    EXPECT_GT(table.size(), 1u) << "no rows below " << table[0][1];
    for (std::size_t c = 1; c < table[0].size(); ++c) {
      const auto columns = columns_of.find(table[0][c]);
      if (columns == columns_of.end()) {
        ADD_FAILURE() << "the heading '" << table[0][c] << "' has no column in a file";
        continue;
      }
      for (std::size_t r = 1; r < table.size(); ++r) {
        expect_cell(table[r][c], table[r][0], columns->second, number_of);
      }
    }
  }
  return tables.size();
}

/// Rows of a CSV table by the cell of one or more columns, joined by spaces.
class CsvRows {
 public:
  CsvRows(const std::string& path, const std::vector<std::string>& keys) {
    test::CsvReader csv(path);
    std::vector<std::string_view> cells;
    while (csv.next(cells)) {
      std::string label;
      for (const std::string& key : keys) {
        label += (label.empty() ? "" : " ") + std::string(cells[csv.column(key)]);
      }
      for (std::size_t c = 0; c < cells.size(); ++c) rows_[label][csv.header()[c]] = cells[c];
    }
  }
  bool has(const std::string& label) const { return rows_.contains(label); }
  double operator()(const std::string& label, const std::string& column) const {
    const auto row = rows_.find(label);
    if (row == rows_.end() || !row->second.contains(column)) {
      ADD_FAILURE() << "the file has no " << column << " of " << label;
      return std::nan("");
    }
    return std::strtod(row->second.at(column).c_str(), nullptr);
  }

 private:
  std::map<std::string, std::map<std::string, std::string>> rows_;
};

}  // namespace tarn::test
