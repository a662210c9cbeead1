#include "tarn/io/json.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tarn::io {
namespace {

/// Moves every line but the first two spaces to the right; strings hold no raw line ends.
std::string indented(std::string_view json_value) {
  std::string text;
  for (const char c : json_value) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

}  // namespace

std::string json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
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
