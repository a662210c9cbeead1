#include "words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace tarn::io {
namespace {

constexpr std::string_view kBlank = " \t\r";
// Far beyond any cluster, and small enough that distances do not overflow.
constexpr double kLargestNumber = 1e6;

}  // namespace

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlank) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  if (is_blank(text)) return {};
  const std::size_t begin = text.find_first_not_of(kBlank);
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
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

std::optional<double> finite_number(std::string_view word) {
  double value = 0.0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string parse_number(std::string_view word, double& value) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  const char* begin = word.data() + (plus ? 1 : 0);
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (stop != end || error == std::errc::invalid_argument) {
    return fmt::format("'{}' is not a number", word);
  }
  if (error != std::errc{} || !std::isfinite(value)) {
    return fmt::format("'{}' is not a finite number", word);
  }
  if (std::abs(value) > kLargestNumber) {
    return fmt::format("'{}' is larger than {:g}, which no cluster is", word, kLargestNumber);
  }
  return {};
}

std::optional<std::int64_t> number_at_end(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::int64_t number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + digits, end, number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

int parse_count(std::string_view word) {
  int count = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, count);
  return error == std::errc{} && stop == end && count > 0 ? count : 0;
}

}  // namespace tarn::io
