#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace tarn::io {

/// Reads a text file line by line and reports problems with their position.
class LineReader {
 public:
  /// @throws IoError
  explicit LineReader(const std::string& path);

  /// The next line, without its end; false at the end of the file. @throws IoError
  bool next();
  /// The next line that is not blank.
  bool next_nonblank();

  /// Whether the end of the file was reached.
  bool at_end() const { return stream_.eof(); }

  std::string_view line() const { return line_; }
  int line_number() const { return line_number_; }
  const std::string& path() const { return path_; }

  /// @param column counts from 1; 0: the whole line
  [[noreturn]] void fail(int column, const std::string& message) const;

 private:
  std::string path_;
  std::ifstream stream_;
  std::string line_;
  int line_number_ = 0;
};

}  // namespace tarn::io
