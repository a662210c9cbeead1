#include "schema.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "source.hpp"
#include "tarn/core/error.hpp"

namespace tarn::decks {

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

bool Schema::is_met(const Condition& condition, const Deck& deck) const {
  const auto value_of = [&](std::string_view path) {
    const Key& key = *find_key(path);
    return key.get(deck);
  };
  const auto is_one_of = [](const Value& value, const std::vector<std::string_view>& choices) {
    const auto* choice = std::get_if<std::string>(&value);
    return choice != nullptr && std::find(choices.begin(), choices.end(), *choice) != choices.end();
  };
  if (!condition.section.empty()) {
    return find_section(condition.section)->present(deck);
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

bool Schema::is_used(const Key& key, const Deck& deck) const {
  return std::all_of(key.used_with.begin(), key.used_with.end(),
                     [&](const Condition& condition) { return is_met(condition, deck); });
}

std::string write_deck(const Schema& schema, const Deck& deck,
                       const std::function<bool(const Key&)>& keep) {
  std::string text;
  for (const Section& section : schema.sections) {
    if (section.present != nullptr && !section.present(deck)) continue;
    std::string lines;
    for (const Key& key : schema.keys) {
      if (key.section != section.name || !schema.is_used(key, deck) || !keep(key)) continue;
      const std::string value = toml_text(key, key.get(deck));
      if (!value.empty()) lines += fmt::format("{} = {}\n", key.name, value);
    }
    if (lines.empty() && section.present == nullptr) continue;
    text += fmt::format("{}[{}]\n{}", text.empty() ? "" : "\n", section.name, lines);
  }
  return text;
}

std::vector<Override> scheme_overrides(const Schema& schema, const std::string& spec,
                                       const std::string& label) {
  // Names of schemes may contain a colon: variational-of:rk4.
  std::size_t end = spec.find(':');
  for (const Choice& choice : schema.find_key("integrator.scheme")->choices) {
    const std::size_t size = choice.text.size();
    if (spec.starts_with(choice.text) && (spec.size() == size || spec[size] == ':')) {
      end = std::max(std::min(end, spec.size()), size);
    }
  }
  std::vector<Override> overrides{{"integrator.scheme=" + spec.substr(0, end), label}};
  while (end < spec.size()) {
    const std::size_t begin = end + 1;
    end = std::min(spec.find(':', begin), spec.size());
    const std::string part = spec.substr(begin, end - begin);
    if (part.starts_with("scheme=")) {
      throw InputError({{label, 0, 0, "write the scheme first, as in " + part.substr(7)}});
    }
    overrides.push_back({"integrator." + part, label, "key=value"});
  }
  return overrides;
}

}  // namespace tarn::decks
