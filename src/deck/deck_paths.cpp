#include "deck_paths.hpp"

#include <system_error>

#include <fmt/format.h>

#include "core/text.hpp"
#include "schema.hpp"

namespace tarn::decks {

namespace fs = std::filesystem;

fs::path from_the_deck(const Deck& deck, const std::string& path) {
  return fs::path(deck.path).parent_path() / path;
}

std::string missing_path_hint(const Deck& deck, const std::string& path) {
  if (fs::path(path).is_absolute()) return {};
  const fs::path folder = fs::path(deck.path).parent_path();
  if (folder.empty()) return "; paths are relative to the current folder";
  std::error_code error;
  const bool is_here = fs::exists(path, error);
  const fs::path from_folder = is_here ? fs::proximate(path, folder, error) : fs::path();
  const std::string cure =
      from_folder.empty() ? "" : fmt::format(": write {}", toml_string(from_folder.string()));
  return fmt::format("; paths in a deck and in --set are relative to the folder of the deck{}",
                     cure);
}

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
  address.port = number_in<int>(port).value_or(0);
  if (address.port < 1 || address.port > 65535) return std::nullopt;
  address.host = host;
  return address;
}

}  // namespace tarn::decks
