#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "checker.hpp"
#include "schema.hpp"

namespace tarn {
namespace {

using decks::Key;
using decks::Section;

std::string code(std::string_view text) { return fmt::format("`{}`", text); }

std::string default_cell(const Key& key, const Deck& defaults) {
  if (!key.default_text.empty()) return std::string(key.default_text);
  return code(decks::toml_text(key, key.get(defaults)));
}

std::string condition_text(const decks::Schema& schema, const decks::Condition& condition) {
  if (!condition.section.empty()) return code(fmt::format("[{}]", condition.section));
  if (condition.path.empty()) return {};
  if (!condition.text.empty()) return std::string(condition.text);
  const Key& other = *schema.find_key(condition.path);
  if (condition.choices.empty()) return "no " + code(other.name);
  const auto one_of = [](const Key& key, const std::vector<std::string_view>& choices) {
    const auto quoted = [](std::string_view choice) { return code(decks::toml_string(choice)); };
    return fmt::format("{} = {}", code(key.name),
                       fmt::join(choices | std::views::transform(quoted), ", "));
  };
  const std::string text = one_of(other, condition.choices);
  if (condition.where.empty()) return text;
  return fmt::format("where {}, {}",
                     one_of(*schema.find_key(condition.where), condition.where_choices), text);
}

std::string condition_text(const decks::Schema& schema, const Key& key) {
  std::string text;
  for (const decks::Condition& condition : key.used_with) {
    const std::string more = condition_text(schema, condition);
    if (!text.ends_with(more)) text += (text.empty() ? "" : "; ") + more;
  }
  return text;
}

/// The choices of a key with their descriptions, as a nested list.
std::string choices_text(const Key& key) {
  std::string text;
  for (const decks::Choice& choice : key.choices) {
    if (choice.value < 0 || choice.description.empty()) continue;
    if (text.empty()) text = fmt::format("- {}\n", code(key.name));
    text += fmt::format("  - {}: {}\n", code(decks::toml_string(choice.text)), choice.description);
  }
  return text;
}

/// The values of a key, with its unit, unless a list below the table describes them all.
std::string value_cell(const Key& key) {
  const auto is_described = [](const decks::Choice& c) { return !c.description.empty(); };
  if (key.choices.size() > 1 && std::all_of(key.choices.begin(), key.choices.end(), is_described)) {
    return "see below";
  }
  std::string text = decks::expected_text(key);
  for (std::string_view words :
       {"a number from ", "a number of ", "a number g", "an ", "one of ", "a "}) {
    if (text.starts_with(words)) text.erase(0, words.size() - words.ends_with('g'));
  }
  return key.unit.empty() ? text : fmt::format("{} {}", text, key.unit);
}

std::string link_to(const Section& section) {
  std::string anchor(section.name);
  std::erase(anchor, '.');
  return fmt::format("[`[{}]`](#{})", section.name, anchor);
}

/// @param known rows of earlier sections, with links to these; this section's are added
std::string section_text(const decks::Schema& schema, const Section& section, const Deck& defaults,
                         std::map<std::string, std::string>& known) {
  std::string text = fmt::format("## [{}]\n\n{}\n\n", section.name, section.description);
  std::string rows, choices;
  std::map<std::string, std::string> as_in;
  for (const Key& key : schema.keys) {
    if (key.section != section.name) continue;
    const std::string with = condition_text(schema, key);
    const std::string row = fmt::format(
        "| {} | {} | {} | {}{} |\n", code(key.name), value_cell(key), default_cell(key, defaults),
        key.description, with.empty() ? "" : fmt::format(" Only with: {}.", with));
    const auto [at, is_new] = known.try_emplace(row, link_to(section));
    if (is_new) {
      rows += row;
      choices += choices_text(key);
    } else {
      std::string& names = as_in[at->second];
      names += (names.empty() ? "" : ", ") + code(key.name);
    }
  }
  for (const auto& [link, names] : as_in) text += fmt::format("{}: as in {}.\n\n", names, link);
  if (!rows.empty()) {
    text += "| key | value | default | description |\n|---|---|---|---|\n" + rows + '\n';
  }
  if (!choices.empty()) text += choices + '\n';
  std::string rules;
  for (const decks::Rule& rule : schema.rules) {
    if (rule.section == section.name) rules += fmt::format("- {}\n", rule.text);
  }
  if (!rules.empty()) text += "Rules:\n\n" + rules + '\n';
  return text;
}

}  // namespace

std::string decks::reference_text(const Schema& schema, Deck& defaults) {
  for (const Section& section : schema.sections) {
    if (section.enable != nullptr) section.enable(defaults);
  }
  std::string text = fmt::format(
      "Sections: {}.\n\n", fmt::join(schema.sections | std::views::transform(link_to), ",\n"));
  std::map<std::string, std::string> known;
  for (const Section& section : schema.sections) {
    text += section_text(schema, section, defaults, known);
  }
  return text;
}

std::string deck_reference() {
  std::string text = R"(# Decks

<!-- Generated from the tables that check decks; do not edit. To update it:
     tarn check --reference > docs/decks.md -->

This page lists all keys of a deck of water, the TOML file that describes one run. Decks of pendula,
rigid bodies and the other systems of the papers are on [a page of their own](papers.md).

`tarn check DECK` prints all problems with their lines, or the deck with all defaults. To change a
deck without editing it, use `--set section.key=value`, `--unset section.key`, `--unset observe.rdf`
or, for all observers, `--unset observe`.

- The name of a key contains its unit.
- Unknown keys are errors, and so are keys that the chosen scheme or thermostat does not use.
- An integer is accepted as a number, but a number such as 7.0 is not accepted as an integer.
- With `--set`, a value that is not TOML is read as a string. `steps` and `duration_ps` replace each
  other, and so do the two frictions. `--unset` is applied before `--set`.
- A section `[observe.*]` turns on its observer.

The shortest deck with output runs seven molecules for a nanosecond at 10 K, with the default scheme
`settle` for rigid water and the default thermostat `baoab`.

```toml
[system]
molecules = 7

[thermostat]
temperature_K = 10.0
friction_per_ps = 5.0

[run]
duration_ps = 1000.0

[observe.energies]
every = 1000
```

)";
  Deck defaults;
  text += decks::reference_text(decks::water_schema(), defaults);
  text += "## Keys that may change on resume\n\n";
  std::string changing;
  for (const Key& key : decks::water_schema().keys) {
    if (key.may_change_on_resume) changing += (changing.empty() ? "" : ", ") + code(key.path());
  }
  text += changing + ". All other keys must stay the same.\n";
  return text;
}

}  // namespace tarn
