#include "words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "core/text.hpp"
#include "paths.hpp"
#include "tarn/core/error.hpp"
#include "tarn/core/units.hpp"
#include "tarn/io/atomic_file.hpp"

namespace tarn::io {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// Parses all of a word as a number, as std::from_chars() does. A leading plus sign and Fortran's
/// letter of double precision in front of the exponent, 1.0D+01, are accepted too.
/// @return std::errc::invalid_argument for a word that is not a number
std::errc parse_all(std::string_view word, double& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const auto parse = [&value](std::string_view text, const char*& stop) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    stop = end;
    return end == text.data() + text.size() ? error : std::errc::invalid_argument;
  };
  const char* stop = nullptr;
  const std::errc error = parse(word, stop);
  const auto parsed = static_cast<std::size_t>(stop - word.data());
  if (parsed == word.size() || (word[parsed] != 'd' && word[parsed] != 'D')) return error;
  std::string with_e(word);
  with_e[parsed] = 'e';
  return parse(with_e, stop);
}

}  // namespace

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlank) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  if (is_blank(text)) return {};
  const std::size_t begin = text.find_first_not_of(kBlank);
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(kBlank, at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string letters_and_digits(std::string_view text) {
  std::string bare;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte)) bare += static_cast<char>(std::tolower(byte));
  }
  return bare;
}

std::optional<double> finite_number(std::string_view word) {
  double value = 0.0;
  if (parse_all(word, value) != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string parse_number(std::string_view word, double& value, double unit) {
  double in_file = 0.0;
  const std::errc error = parse_all(word, in_file);
  if (error == std::errc::invalid_argument) return fmt::format("'{}' is not a number", word);
  if (error != std::errc{} || !std::isfinite(in_file)) {
    return fmt::format("'{}' is not a finite number", word);
  }
  value = unit * in_file;
  if (std::abs(value) <= kLargestNumber) return {};
  return fmt::format(
      "'{}' is larger than {:g}, the largest coordinate or velocity that is accepted", word,
      kLargestNumber / unit);
}

std::optional<std::int64_t> number_at_end(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return number_in<std::int64_t>(name.substr(digits));
}

int parse_count(std::string_view word) { return std::max(number_in<int>(word).value_or(0), 0); }

std::optional<double> length_unit_A(std::string_view name) {
  constexpr std::array<std::pair<double, std::string_view>, 5> kUnits{
      {{1.0, "angstrom Angstrom angstroms A \u00c5 \u212b"},
       {10.0, "nm nanometer"},
       {0.01, "pm picometer"},
       {1e10, "m"},
       {units::angstrom_per_bohr, "bohr Bohr a0 au automatic atomic_unit"}}};
  for (const auto& [length_A, names] : kUnits) {
    const std::vector<std::string_view> known = split(names, ' ');
    if (std::ranges::find(known, name) != known.end()) return length_A;
  }
  return std::nullopt;
}

LineReader::LineReader(const std::string& path) : path_(path), stream_(readable_path(path)) {
  if (!stream_) throw_io_error("read", path, errno);
  if (stream_.peek() == std::ifstream::traits_type::eof() && stream_.bad()) {
    throw_io_error("read", path, errno);  // a folder opens, but cannot be read
  }
  stream_.clear();
}

bool LineReader::next() {
  if (!std::getline(stream_, line_)) {
    if (stream_.bad()) throw_io_error("read", path_, errno);
    return false;
  }
  ++line_number_;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  // Skip the invisible byte order mark that some editors write.
  if (line_number_ == 1 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
  return true;
}

bool LineReader::next_nonblank() {
  while (next()) {
    if (!is_blank(line_)) return true;
  }
  return false;
}

void LineReader::fail(int column, const std::string& message) const {
  throw InputError({Problem{path_, line_number_, column, message}});
}

}  // namespace tarn::io
