#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/structure.hpp"

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

/// A reader of frames from a text file.
class TextFrameReader : public FrameReader {
 public:
  /// @throws IoError
  explicit TextFrameReader(const std::string& path) : lines_(path) {}

  int line_of_atom(int atom) const override { return atom_lines_[static_cast<std::size_t>(atom)]; }
  bool is_cut_off() const override { return lines_.at_end(); }
  const std::string& path() const override { return lines_.path(); }

 protected:
  LineReader lines_;
  std::vector<int> atom_lines_;  ///< of the last frame
};

}  // namespace tarn::io
