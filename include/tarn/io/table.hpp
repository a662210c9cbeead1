#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// Tables of a run as columns in memory.

namespace tarn::io {

/// A column: integers if all cells are integers, else numbers if all are numbers ("nan" is one),
/// else texts. Only the vector of its kind is filled.
struct TableColumn {
  enum class Kind { integer, number, text };
  std::string name;
  Kind kind = Kind::integer;
  std::vector<std::int64_t> integers{};
  std::vector<double> numbers{};
  std::vector<std::string> texts{};
};

struct Table {
  std::string provenance;  ///< text of the `#` lines
  std::size_t rows = 0;
  std::vector<TableColumn> columns;
};

/// Reads a CSV table of tarn.
/// @throws IoError; InputError as CsvReader
Table read_table(const std::string& path);

/// The same from the text of a table that tarn made: a `#` line, a header and rows.
Table parse_table(std::string_view text);

}  // namespace tarn::io
