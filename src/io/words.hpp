#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::io {

/// Whether a text contains only blanks.
bool is_blank(std::string_view text);
/// A text without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view line);

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

/// The cells of a row of a CSV table.
inline void split_cells(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace tarn::io
