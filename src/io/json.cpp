#include "tarn/io/json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tarn::io {
namespace {

/// Indents all lines but the first by two spaces; strings contain no raw line ends.
std::string indented(std::string_view json_value) {
  std::string text;
  for (const char c : json_value) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

/// Length of the UTF-8 character at the beginning of a text; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong, a surrogate, or beyond the last code point.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    valid += length > 0 ? text.substr(0, length) : "\xef\xbf\xbd";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

std::string json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

std::string json(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "null";
}

std::string json(std::int64_t value) { return fmt::to_string(value); }

std::string json_array(const std::vector<std::string>& json_values) {
  std::string text = "[";
  for (const std::string& value : json_values) {
    if (text.size() > 1) text += ", ";
    text += value;
  }
  return text + "]";
}

std::string json_strings(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(json(std::string_view(text)));
  return json_array(values);
}

JsonObject& JsonObject::add(std::string_view key, std::string json_value) {
  members_.emplace_back(key, std::move(json_value));
  return *this;
}

std::string JsonObject::text() const {
  std::string text = "{";
  for (const auto& [key, value] : members_) {
    text += fmt::format("{}\n  {}: {}", text.size() > 1 ? "," : "", json(std::string_view(key)),
                        indented(value));
  }
  return text + "\n}";
}

std::string JsonObject::line() const {
  std::string line = "{";
  for (const auto& [key, value] : members_) {
    if (line.size() > 1) line += ", ";
    line += json(std::string_view(key)) + ": " + value;
  }
  return line + "}";
}

}  // namespace tarn::io
