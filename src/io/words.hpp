#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::io {

/// Nothing but blanks.
bool is_blank(std::string_view text);
/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);
/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view line);

/// The finite number that the word is, or nothing.
std::optional<double> finite_number(std::string_view word);
/// What is wrong with the word as a coordinate, or nothing and the number.
std::string parse_number(std::string_view word, double& value);
/// The number that the digits at the end of a name are, or nothing.
std::optional<std::int64_t> number_at_end(std::string_view name);
/// A number of atoms, at least 1, or 0 if the word is none.
int parse_count(std::string_view word);

}  // namespace tarn::io
