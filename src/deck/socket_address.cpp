#include "socket_address.hpp"

#include <charconv>
#include <system_error>

namespace tarn::decks {

std::optional<SocketAddress> socket_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  // The path of a UNIX socket has at most 107 bytes, with "/tmp/ipi_" before a name.
  constexpr std::size_t kLongestName = 98;
  SocketAddress address;
  if (text.starts_with(kUnix)) {
    address.unix_name = text.substr(kUnix.size());
    if (address.unix_name.empty() || address.unix_name.size() > kLongestName) return std::nullopt;
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!in_brackets && host.find_first_of(":[] /") != std::string_view::npos)) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;
  if (address.port < 1 || address.port > 65535) return std::nullopt;
  address.host = host;
  return address;
}

}  // namespace tarn::decks
