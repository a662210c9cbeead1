#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tarn/io/append_file.hpp"

namespace tarn::io {

/// A number with 17 significant digits: reading it back gives the same bits.
std::string exact(double value);

/// Formats a CSV table: a `#` line with provenance, a header, then rows of cells.
/// No number that is not finite gets through.
class CsvFormat {
 public:
  /// @param path named in messages only
  /// @param likely how a message about a number that is not finite goes on; must outlive this
  CsvFormat(std::string path, std::vector<std::string> header, std::string_view likely = {});

  /// The two first lines. @param provenance without the '#'; no time, path or step count
  std::string head(std::string_view provenance) const;
  /// @throws InputError where the file is there and its second line names other columns
  void check_columns_of_file() const;
  CsvFormat& cell(std::int64_t value);
  /// @throws NumericalError when the value is not finite
  CsvFormat& cell(double value);
  /// A number that need not be known: "nan" where it is not finite.
  CsvFormat& cell_or_nan(double value);
  /// @throws std::logic_error for a comma or a line break, which would make two cells of one
  CsvFormat& cell(std::string_view text);
  /// Ends the row and returns it. @throws std::logic_error when cells and header differ in number
  std::string row();

 private:
  std::string path_;
  std::vector<std::string> header_;
  std::string_view likely_;
  std::string row_;
  std::size_t cells_ = 0;
};

/// Why a table of a simulation would get a number that is not finite.
inline constexpr std::string_view kBlowUpAdvice =
    ": the simulation blew up. The row was left out; try a smaller timestep or a start without "
    "overlaps.";

/// A CSV file that grows row by row while a simulation runs; a row reaches it only when it is
/// whole.
class CsvWriter {
 public:
  /// @param likely see CsvFormat
  CsvWriter(const std::string& path, std::vector<std::string> header,
            std::string_view likely = kBlowUpAdvice);

  /// Starts a new file. @throws IoError
  void create(std::string_view provenance);
  /// Continues a file after its first `length` bytes.
  /// @throws IoError; InputError, and leaves it as it is, where its columns are others
  void cut(std::uint64_t length) {
    format_.check_columns_of_file();
    file_.cut(length);
  }

  template <class T>
  CsvWriter& cell(const T& value) {
    format_.cell(value);
    return *this;
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

/// Reads a CSV file row by row; lines that begin with '#' are left out.
class CsvReader {
 public:
  /// @throws IoError when the file cannot be read, InputError when it has no header
  explicit CsvReader(const std::string& path);

  const std::vector<std::string>& header() const { return header_; }
  /// Text of the `#` lines, without the '#'.
  const std::string& provenance() const { return provenance_; }
  /// Position of a column. @throws InputError when there is none of that name
  std::size_t column(std::string_view name) const;
  bool has_column(std::string_view name) const;

  /// Reads the next row; the views live until the next call.
  /// @return false at the end
  /// @throws InputError when a row has not as many cells as the header
  bool next(std::vector<std::string_view>& cells);
  /// A cell of the last row as a number. @throws InputError with line and column
  double number(std::string_view cell) const;

 private:
  std::string path_;
  std::ifstream stream_;
  std::string line_;
  int line_number_ = 0;
  std::string provenance_;
  std::vector<std::string> header_;
};

}  // namespace tarn::io
