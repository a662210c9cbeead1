#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tarn/io/atomic_file.hpp"

namespace tarn::io {

/// A number with 17 significant digits: reading it back gives the same bits.
std::string exact(double value);

/// Formats a CSV table: a `#` line with provenance, a header, then rows of cells.
/// Numbers that are not finite are errors.
class CsvFormat {
 public:
  /// @param path for messages only
  /// @param likely cause, appended to the message on a number that is not finite; must outlive this
  CsvFormat(std::string path, std::vector<std::string> header, std::string_view likely = {});

  /// The first two lines. @param provenance without the '#', time, path or step count
  std::string head(std::string_view provenance) const;
  /// @throws InputError if the file exists and its second line names other columns
  void check_columns_of_file() const;
  CsvFormat& cell(std::integral auto value) {
    return cell(std::string_view(std::to_string(value)));
  }
  /// @throws NumericalError when the value is not finite
  CsvFormat& cell(double value);
  /// A number that may be undefined: "nan" if it is not finite.
  CsvFormat& cell_or_nan(double value);
  /// @throws std::logic_error for a comma or a line break, which would split the cell
  CsvFormat& cell(std::string_view text);
  template <class... T>
  CsvFormat& cells(const T&... values) {
    return (cell(values), ...);
  }
  template <class... T>
  CsvFormat& cells_or_nan(T... values) {
    return (cell_or_nan(values), ...);
  }
  /// Ends and returns the row. @throws std::logic_error if it has more or fewer cells than the
  /// header
  std::string row();

 private:
  std::string path_;
  std::vector<std::string> header_;
  std::string_view likely_;
  std::string row_;
  std::size_t cells_ = 0;
};

/// A CSV table that is written as a whole.
class CsvTable : public CsvFormat {
 public:
  CsvTable(const std::string& path, std::vector<std::string> header, std::string_view provenance)
      : CsvFormat(path, std::move(header)), path_(path), text_(head(provenance)) {}

  void end_row() { text_ += row(); }
  const std::string& text() const { return text_; }
  /// @throws IoError
  void write() const;

 private:
  std::string path_, text_;
};

/// The likely cause of a number that is not finite in the table of a simulation.
inline constexpr std::string_view kBlowUpAdvice =
    ": the simulation blew up. The row was left out; try a smaller timestep or a start without "
    "overlaps.";

/// A CSV file that grows by complete rows during a simulation.
class CsvWriter {
 public:
  /// @param likely see CsvFormat
  CsvWriter(const std::string& path, std::vector<std::string> header,
            std::string_view likely = kBlowUpAdvice);

  /// Starts a new file. @throws IoError
  void create(std::string_view provenance);
  /// Continues a file after its first `length` bytes.
  /// @throws IoError; InputError, without a change, if its columns are different
  void cut(std::uint64_t length) {
    format_.check_columns_of_file();
    file_.cut(length);
  }

  template <class... T>
  CsvWriter& cells(const T&... values) {
    format_.cells(values...);
    return *this;
  }
  template <class T>
  CsvWriter& cell(const T& value) {
    return cells(value);
  }
  void cell_or_nan(double value) { format_.cell_or_nan(value); }
  /// @throws IoError
  void end_row() { file_.append(format_.row()); }
  void flush() { file_.flush(); }
  void sync() { file_.sync(); }
  std::uint64_t length() const { return file_.length(); }

 private:
  CsvFormat format_;
  AppendFile file_;
};

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

/// Reads a CSV table of tarn: `#` lines, a header and rows. Lines that are empty or begin with '#'
/// between rows are skipped.
/// @param path for messages
/// @throws InputError if there is no header, or a row has more or fewer cells
Table parse_table(std::string_view text, const std::string& path = {});
/// The same from a file. @throws IoError
Table read_table(const std::string& path);

}  // namespace tarn::io
