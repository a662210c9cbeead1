#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// @file
/// Messages to the user. The library collects them; programs print them.

namespace tarn {

enum class Level : std::uint8_t {
  note,    ///< something normal that the user may want to know
  warning  ///< asks the user for an action
};

/// "note" or "warning".
inline std::string_view name_of(Level level) { return level == Level::note ? "note" : "warning"; }

struct Message {
  Level level;
  std::string text;  ///< without the name of the level

  static Message note(std::string text) { return {Level::note, std::move(text)}; }
  static Message warning(std::string text) { return {Level::warning, std::move(text)}; }
  bool operator==(const Message&) const = default;
};

using Messages = std::vector<Message>;

inline void append(const std::optional<Message>& message, Messages& to) {
  if (message) to.push_back(*message);
}
inline void append(Messages more, Messages& to) {
  for (Message& message : more) to.push_back(std::move(message));
}

/// The texts of one level.
inline std::vector<std::string> texts_of(Level level, const Messages& messages) {
  std::vector<std::string> texts;
  for (const Message& message : messages) {
    if (message.level == level) texts.push_back(message.text);
  }
  return texts;
}

}  // namespace tarn
