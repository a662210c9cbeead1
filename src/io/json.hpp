#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// @file
/// A JSON writer. Values are strings that already are JSON.

namespace tarn::io {

/// A string with quotes and escapes.
std::string json(std::string_view text);
/// 17 significant digits; `null` for numbers that are not finite, which JSON does not have.
std::string json(double value);
std::string json(std::int64_t value);
std::string json_array(const std::vector<std::string>& json_values);
std::string json_strings(const std::vector<std::string>& texts);

/// An object with its keys in the order of add().
class JsonObject {
 public:
  /// @param json_value the result of json(), json_array() or text()
  JsonObject& add(std::string_view key, std::string json_value);
  /// Several lines, indented by two spaces per level, without a final line end.
  std::string text() const;
  /// The object on one line, if its values are on one line.
  std::string line() const;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace tarn::io
