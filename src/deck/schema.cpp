#include "schema.hpp"

#include <algorithm>

namespace tarn::decks {

const Schema& schema_of(const Deck& deck) {
  return is_mechanical(deck.system.kind) ? mechanics_schema() : water_schema();
}

const Section* Schema::find_section(std::string_view name) const {
  for (const Section& section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

const Key* Schema::find_key(std::string_view section, std::string_view name) const {
  for (const Key& key : keys) {
    if (key.section == section && key.name == name) return &key;
  }
  return nullptr;
}

const Key* Schema::find_key(std::string_view path) const {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? nullptr
                                       : find_key(path.substr(0, dot), path.substr(dot + 1));
}

bool is_met(const Condition& condition, const Deck& deck) {
  const auto value_of = [&](std::string_view path) {
    const Key& key = *schema_of(deck).find_key(path);
    return key.get(deck);
  };
  const auto is_one_of = [](const Value& value, const std::vector<std::string_view>& choices) {
    const auto* choice = std::get_if<std::string>(&value);
    return choice != nullptr && std::find(choices.begin(), choices.end(), *choice) != choices.end();
  };
  if (!condition.section.empty()) {
    return schema_of(deck).find_section(condition.section)->present(deck);
  }
  if (condition.path.empty()) return true;
  if (!condition.where.empty() && !is_one_of(value_of(condition.where), condition.where_choices)) {
    return true;
  }
  const Value value = value_of(condition.path);
  // A key of a section that the deck lacks; a rule reports the missing section.
  if (!condition.where.empty() && std::holds_alternative<std::monostate>(value)) return true;
  return condition.choices.empty() ? std::holds_alternative<std::monostate>(value)
                                   : is_one_of(value, condition.choices);
}

bool is_used(const Key& key, const Deck& deck) {
  return std::all_of(key.used_with.begin(), key.used_with.end(),
                     [&](const Condition& condition) { return is_met(condition, deck); });
}

}  // namespace tarn::decks
