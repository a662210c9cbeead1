#include "notes.hpp"

#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "schema.hpp"

namespace tarn::decks {

std::vector<std::string> notes_on(const Deck& deck) {
  std::vector<std::string> notes;
  for (const Key& key : schema_of(deck).keys) {
    if (!key.section.starts_with("observe.") || key.name != "replicas") continue;
    const Value value = key.get(key, deck);
    const auto* count = std::get_if<std::int64_t>(&value);
    if (count == nullptr || *count <= deck.system.replicas) continue;
    notes.push_back(fmt::format("[{}] replicas = {}, and the run has {}: all of them are written",
                                key.section, *count, deck.system.replicas));
  }
  return notes;
}

}  // namespace tarn::decks
