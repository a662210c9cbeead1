#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tarn::decks {

/// An address at which a program listens: "unix:NAME", "host:port" or "[IPv6]:port".
struct SocketAddress {
  std::string unix_name;  ///< a name for /tmp/ipi_<name>, or a path; empty: host and port
  std::string host;
  int port = 0;
};

/// @return empty if the text is not an address
std::optional<SocketAddress> socket_address(std::string_view text);

}  // namespace tarn::decks
