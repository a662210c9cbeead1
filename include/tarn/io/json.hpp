#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// @file
/// Just enough JSON to write: values are texts that are already JSON.

namespace tarn::io {

/// The text with the mark for it, U+FFFD, in place of bytes that are no UTF-8, as names of files
/// may hold them.
std::string valid_utf8(std::string_view text);

/// A string with quotes and escapes.
std::string json(std::string_view text);
/// 17 significant digits; `null` for what is not finite, which JSON cannot say.
std::string json(double value);
std::string json(std::int64_t value);
std::string json_array(const std::vector<std::string>& json_values);
std::string json_strings(const std::vector<std::string>& texts);

/// An object that keeps the order in which its keys were added.
class JsonObject {
 public:
  /// @param json_value the result of json(), json_array() or text()
  JsonObject& add(std::string_view key, std::string json_value);
  /// Several lines, two spaces a level, no line end after the last.
  std::string text() const;
  /// The same on one line, if the values are.
  std::string line() const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace tarn::io
