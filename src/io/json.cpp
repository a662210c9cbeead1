#include "json.hpp"

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

/// The elements of an array, or the members of an object, that is on one line.
std::vector<std::string_view> elements(std::string_view list) {
  std::vector<std::string_view> all;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 1;
  for (std::size_t i = 1; i + 1 < list.size(); ++i) {
    const char c = list[i];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      continue;
    }
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c != ',' || depth > 0) continue;
    all.push_back(list.substr(begin, i - begin));
    begin = i + 2;
  }
  all.push_back(list.substr(begin, list.size() - 1 - begin));
  return all;
}

/// Breaks an array or object that is too long for a line: numbers fill lines, other elements have
/// one each. @param column at which it begins; 0: an element
std::string wrapped(std::string_view value, std::size_t column) {
  constexpr std::size_t kColumns = 100, kRow = 1000;
  const std::size_t longest = column == 0 && value.front() == '{' ? kRow : kColumns;
  const bool is_list = value.front() == '[' || value.front() == '{';
  if (!is_list || column + value.size() < longest || value.find('\n') != std::string_view::npos) {
    return std::string(value);
  }
  std::string text(1, value.front());
  std::size_t end = kColumns;  // of the line
  for (const std::string_view element : elements(value)) {
    if (text.size() > 1) text += ',';
    const bool is_number =
        element.front() == '-' || (element.front() >= '0' && element.front() <= '9');
    if (is_number && end + element.size() + 2 < kColumns) {
      (text += ' ') += element;
      end += element.size() + 2;
      continue;
    }
    const std::size_t name = value.front() == '{' ? element.find("\": ") + 3 : 0;
    (text += "\n  ") += element.substr(0, name);
    text += indented(wrapped(element.substr(name), name));
    end = is_number ? element.size() + 2 : kColumns;
  }
  return text + '\n' + value.back();
}

/// The text with U+FFFD, the replacement character, in place of bytes that are not UTF-8, which
/// file names may contain.
std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    valid += length > 0 ? text.substr(0, length) : "\xef\xbf\xbd";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

}  // namespace

std::string json(std::string_view text) {
  constexpr std::string_view kSpecial = "\"\\\n\t", kLetters = "\"\\nt";
  std::string quoted = "\"";
  for (const char c : valid_utf8(text)) {
    if (const std::size_t at = kSpecial.find(c); at != kSpecial.npos) {
      quoted += {'\\', kLetters[at]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "null";
}

std::string json(std::int64_t value) { return fmt::to_string(value); }

std::string json_array(const std::vector<std::string>& json_values) {
  return fmt::format("[{}]", fmt::join(json_values, ", "));
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
                        indented(wrapped(value, key.size() + 6)));
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
