#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source.hpp"
#include "tarn/deck.hpp"

/// @file
/// Paths and addresses in decks.

namespace tarn::decks {

/// A path relative to the folder of the deck; absolute paths stay.
std::filesystem::path from_the_deck(const Deck& deck, const std::string& path);

/// For the message on a path that does not exist: the folder that relative paths start from and, if
/// the file is in the current folder, what to write instead. Empty for absolute paths.
std::string missing_path_hint(const Deck& deck, const std::string& path);

/// @param option command line option of the changes
inline std::vector<Override> given_by(const std::string& option,
                                      const std::vector<std::string>& texts) {
  std::vector<Override> changes;
  for (const std::string& text : texts) changes.push_back({text, option + " " + text});
  return changes;
}

/// An address at which a program listens: "unix:NAME", "host:port" or "[IPv6]:port".
struct SocketAddress {
  std::string unix_name;  ///< a name for /tmp/ipi_<name>, or a path; empty: host and port
  std::string host;
  int port = 0;
};

/// @return empty if the text is not an address
std::optional<SocketAddress> socket_address(std::string_view text);

}  // namespace tarn::decks
