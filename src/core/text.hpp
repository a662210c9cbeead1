#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace tarn {

/// "1 frame", "2 frames". @param plural empty: the singular and an s
inline std::string count_text(std::int64_t n, std::string_view singular,
                              std::string_view plural = {}) {
  std::string text = std::to_string(n) + ' ';
  if (n == 1) return text.append(singular);
  return plural.empty() ? text.append(singular) + 's' : text.append(plural);
}

/// The number that all of a text is; empty for any other text.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// A number that is not above x > 0 ("at most").
inline std::string rounded_down(double x, int digits = 2) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - (digits - 1));
  return fmt::format("{:.15g}", unit * std::floor(x / unit * (1.0 + 1e-14)));
}
/// A number that is not below x > 0 ("at least").
inline std::string rounded_up(double x, int digits = 2) {
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - (digits - 1));
  return fmt::format("{:.15g}", unit * std::ceil(x / unit * (1.0 - 1e-14)));
}

/// Foreign text for messages and files: one line without control characters and escape sequences,
/// with at most 300 bytes, and without white space and a full stop at its end.
inline std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 300;
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    const bool is_c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;  // control characters in UTF-8
    if (is_c1) ++i;
    // Escape sequences: ESC [ or its C1 character, parameters, and a letter or similar.
    if ((c == 0x1b && next == '[') || (is_c1 && next == 0x9b)) {
      i = text.find_first_not_of("0123456789:;<=>? !\"#$%&'()*+,-./[", i + 1);
      if (i == std::string_view::npos) break;
      continue;
    }
    line += is_c1 || c < 0x20 || c == 0x7f ? ' ' : text[i];
  }
  if (line.size() > kMost) {
    std::size_t end = kMost - 3;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
    return line.substr(0, end) + "...";
  }
  line.erase(line.find_last_not_of(" .") + 1);  // npos + 1 is 0
  return line.substr(line.empty() ? 0 : line.find_first_not_of(' '));
}

}  // namespace tarn
