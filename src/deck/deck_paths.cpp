#include "deck_paths.hpp"

#include <system_error>

#include <fmt/format.h>

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

}  // namespace tarn::decks
