#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Whether a text contains only blanks.
bool is_blank(std::string_view text);
/// A text without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view line);
/// The parts between separators, including empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);
/// "TIP4P/2005" becomes "tip4p2005": spellings that differ in punctuation and case compare equal.
std::string letters_and_digits(std::string_view text);

/// The largest coordinate [A] or velocity [A/akma] of an atom that readers and writers accept: far
/// beyond any cluster, and small enough that no distance overflows.
inline constexpr double kLargestNumber = 1e9;

/// Parses a finite number; the exponent may be Fortran's, as in 1.0D+01.
std::optional<double> finite_number(std::string_view word);
/// Parses a coordinate or velocity.
/// @param unit of the file in the unit of the result
/// @param value receives the number times `unit`
/// @return the problem with the word, or an empty string
std::string parse_number(std::string_view word, double& value, double unit = 1.0);
/// The number formed by the digits at the end of a name, or nothing.
std::optional<std::int64_t> number_at_end(std::string_view name);
/// A number of atoms, at least 1; 0 if the word is not one.
int parse_count(std::string_view word);

/// A unit of length by its name in angstrom, or nothing.
std::optional<double> length_unit_A(std::string_view name);

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
