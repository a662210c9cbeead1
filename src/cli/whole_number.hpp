#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tarn::cli {

/// Checks that an argument is a decimal whole number in that range. The parser's own conversion
/// accepts a minus sign for unsigned numbers, and reads a leading zero as base 8.
inline CLI::Validator whole_number(std::int64_t low,
                                   std::int64_t high = std::numeric_limits<std::int64_t>::max()) {
  const auto problem = [low, high](const std::string& text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const bool leading_zero = text.size() > 1 && text[text[0] == '-' ? 1 : 0] == '0';
    const bool read = error == std::errc() && rest == end && !leading_zero;
    if (read && number >= low && number <= high) return std::string{};
    return high == std::numeric_limits<std::int64_t>::max()
               ? fmt::format("{}: give a whole number, {} or more, and at most 2^63 - 1 = {}", text,
                             low, high)
               : fmt::format("{}: give a whole number from {} to {}", text, low, high);
  };
  return {problem, {}};
}

/// The same limits as for `threads` in a deck.
inline CLI::Validator number_of_threads() { return whole_number(0, 4096); }

}  // namespace tarn::cli
