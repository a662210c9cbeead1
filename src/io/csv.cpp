#include "tarn/io/csv.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "core/text.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "words.hpp"

namespace tarn::io {

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

CsvFormat& CsvFormat::integer(std::int64_t value) {
  return cell(std::string_view(fmt::to_string(value)));
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

CsvReader::CsvReader(const std::string& path) : path_(path), stream_(path) {
  if (!stream_) throw_io_error("read", path, errno);
  while (std::getline(stream_, line_)) {
    ++line_number_;
    if (!line_.empty() && line_[0] == '#') {
      provenance_ += line_.substr(1);
      continue;
    }
    std::vector<std::string_view> cells;
    split_cells(line_, cells);
    header_.assign(cells.begin(), cells.end());
    return;
  }
  if (stream_.bad()) throw_io_error("read", path, errno);
  throw InputError(path, 0,
                   line_number_ == 0 ? "the file is empty"
                                     : "no header row: this is not a table written by tarn");
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) {
    throw InputError(path_, 0, fmt::format("there is no column '{}'", name));
  }
  return static_cast<std::size_t>(found - header_.begin());
}

bool CsvReader::has_column(std::string_view name) const {
  return std::find(header_.begin(), header_.end(), name) != header_.end();
}

bool CsvReader::next(std::vector<std::string_view>& cells) {
  do {
    if (!std::getline(stream_, line_)) {
      if (stream_.bad()) throw_io_error("read", path_, errno);
      return false;
    }
    ++line_number_;
  } while (line_.empty() || line_[0] == '#');
  split_cells(line_, cells);
  if (cells.size() != header_.size()) {
    throw InputError(path_, line_number_,
                     fmt::format("{} cells; the header has {}", cells.size(), header_.size()));
  }
  return true;
}

double CsvReader::number(std::string_view cell) const {
  if (const auto value = number_in<double>(cell)) return *value;
  throw InputError({Problem{path_, line_number_, static_cast<int>(cell.data() - line_.data()) + 1,
                            fmt::format("'{}' is not a number", cell)}});
}

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
