#include "tarn/io/csv.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "core/text.hpp"
#include "tarn/core/error.hpp"
#include "words.hpp"

namespace tarn::io {
namespace {

/// Adds a cell; a cell of another kind changes that of the column.
void add(std::string_view cell, TableColumn& column) {
  if (column.kind == TableColumn::Kind::integer) {
    if (const auto value = number_in<std::int64_t>(cell)) return column.integers.push_back(*value);
    column.kind = TableColumn::Kind::number;
    column.numbers.assign(column.integers.begin(), column.integers.end());
  }
  if (column.kind == TableColumn::Kind::number) {
    if (const auto value = number_in<double>(cell)) return column.numbers.push_back(*value);
    column.kind = TableColumn::Kind::text;
    for (const double number : column.numbers) column.texts.push_back(exact(number));
  }
  column.texts.emplace_back(cell);
}

}  // namespace

std::string exact(double value) { return fmt::format("{:.17g}", value); }

CsvFormat::CsvFormat(std::string path, std::vector<std::string> header, std::string_view likely)
    : path_(std::move(path)), header_(std::move(header)), likely_(likely) {}

std::string CsvFormat::head(std::string_view provenance) const {
  return fmt::format("# {}\n{}\n", provenance, fmt::join(header_, ","));
}

void CsvFormat::check_columns_of_file() const {
  std::ifstream file(path_);
  std::string first, names;
  // A missing file or row is reported when the run continues the file.
  if (!std::getline(file, first) || !std::getline(file, names)) return;
  const std::string own = fmt::format("{}", fmt::join(header_, ","));
  if (names == own) return;
  throw InputError(fmt::format(
      "{}: its columns differ from those of this version of tarn ({} here, {} in the file). "
      "Resume with the version that wrote it, or restart with --overwrite",
      path_, own, names));
}

CsvFormat& CsvFormat::cell(double value) {
  if (!std::isfinite(value)) {
    const std::string column = cells_ < header_.size() ? header_[cells_] : "?";
    throw NumericalError(
        fmt::format("{} would contain a value that is not a number (column {}, row '{}...'){}",
                    path_, column, row_, likely_));
  }
  return cell(std::string_view(exact(value)));
}

CsvFormat& CsvFormat::cell_or_nan(double value) {
  return std::isfinite(value) ? cell(value) : cell(std::string_view("nan"));
}

CsvFormat& CsvFormat::cell(std::string_view text) {
  if (text.find_first_of(",\n") != text.npos) {
    throw std::logic_error(path_ + ": a comma or a line break in a cell");
  }
  if (cells_ != 0) row_ += ',';
  row_ += text;
  ++cells_;
  return *this;
}

std::string CsvFormat::row() {
  if (cells_ != header_.size()) throw std::logic_error(path_ + ": cells and header differ");
  cells_ = 0;
  return std::exchange(row_, {}) + '\n';
}

void CsvTable::write() const { write_file(path_, text_); }

CsvWriter::CsvWriter(const std::string& path, std::vector<std::string> header,
                     std::string_view likely)
    : format_(path, std::move(header), likely), file_(path) {}

void CsvWriter::create(std::string_view provenance) {
  file_.create();
  file_.append(format_.head(provenance));
}

Table parse_table(std::string_view text, const std::string& path) {
  Table table;
  const bool is_empty = text.empty();
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const bool is_head = table.columns.empty();
    if (line.starts_with('#')) {
      if (is_head) table.provenance += line.substr(1);
      continue;
    }
    if (line.empty() && !is_head) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (is_head) {
      for (const std::string_view name : cells) table.columns.push_back({std::string(name)});
      continue;
    }
    if (cells.size() != table.columns.size()) {
      throw InputError(
          path, number,
          fmt::format("{} cells; the header has {}", cells.size(), table.columns.size()));
    }
    for (std::size_t c = 0; c < cells.size(); ++c) add(cells[c], table.columns[c]);
    ++table.rows;
  }
  if (table.columns.empty()) {
    throw InputError(
        path, 0,
        is_empty ? "the file is empty" : "no header row: this is not a table written by tarn");
  }
  // Numbers that columns of another kind had at first.
  for (TableColumn& column : table.columns) {
    if (column.kind != TableColumn::Kind::integer) column.integers = {};
    if (column.kind != TableColumn::Kind::number) column.numbers = {};
  }
  return table;
}

Table read_table(const std::string& path) { return parse_table(read_file(path), path); }

}  // namespace tarn::io
