#include <string>

#include <fmt/format.h>

#include "checker.hpp"
#include "mechanics_columns.hpp"
#include "schema.hpp"

namespace tarn {
namespace {

using decks::Key;
using decks::Section;

std::string code(std::string_view text) { return fmt::format("`{}`", text); }

std::string default_cell(const Key& key, const Deck& defaults) {
  if (!key.default_text.empty()) return std::string(key.default_text);
  return code(decks::toml_text(key, key.get(key, defaults)));
}

std::string condition_text(const decks::Schema& schema, const decks::Condition& condition) {
  if (condition.path.empty()) return {};
  const Key& other = *schema.find_key(condition.path);
  if (condition.choices.empty()) return "no " + code(other.name);
  const auto one_of = [](const Key& key, const std::vector<std::string_view>& choices) {
    std::string list;
    for (std::string_view choice : choices) {
      list += (list.empty() ? "" : ", ") + code(decks::toml_string(choice));
    }
    return fmt::format("{} = {}", code(key.name), list);
  };
  const std::string text = one_of(other, condition.choices);
  if (condition.where.empty()) return text;
  return fmt::format("where {}, {}",
                     one_of(*schema.find_key(condition.where), condition.where_choices), text);
}

std::string condition_text(const decks::Schema& schema, const Key& key) {
  std::string text = condition_text(schema, key.used_with);
  for (const decks::Condition& also : key.also_used_with) {
    text += (text.empty() ? "" : "; ") + condition_text(schema, also);
  }
  return text;
}

/// What each word means.
std::string choices_text(const Key& key) {
  std::string meanings;
  for (const decks::Choice& choice : key.choices) {
    if (choice.value < 0 || choice.description.empty()) continue;
    meanings += fmt::format("{}{} {}", meanings.empty() ? "" : "; ",
                            code(decks::toml_string(choice.text)), choice.description);
  }
  return meanings.empty() ? meanings : fmt::format("- {}: {}.\n", code(key.name), meanings);
}

std::string section_text(const decks::Schema& schema, const Section& section,
                         const Deck& defaults) {
  std::string text = fmt::format("## [{}]\n\n{}\n\n", section.name, section.description);
  text += "| key | unit | value | default | only with | meaning |\n|---|---|---|---|---|---|\n";
  std::string choices;
  for (const Key& key : schema.keys) {
    if (key.section != section.name) continue;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", code(key.name), key.unit,
                        decks::expected_text(key), default_cell(key, defaults),
                        condition_text(schema, key), key.description);
    choices += choices_text(key);
  }
  if (!choices.empty()) text += '\n' + choices;
  return text + '\n';
}

/// All sections, rules and remarks of a table.
std::string schema_text(const decks::Schema& schema, Deck& defaults) {
  for (const Section& section : schema.sections) {
    if (section.enable != nullptr) section.enable(defaults);
  }
  std::string text;
  for (const Section& section : schema.sections) text += section_text(schema, section, defaults);
  text += "## Rules between keys\n\n";
  for (const decks::Rule& rule : schema.rules) text += fmt::format("- {}\n", rule.text);
  text += "\n## What may change when a run is resumed\n\n";
  std::string changing;
  for (const Key& key : schema.keys) {
    if (key.may_change_on_resume) changing += (changing.empty() ? "" : ", ") + code(key.path());
  }
  text += changing + "; everything else must stay as it was.\n";
  return text + '\n';
}

}  // namespace

std::string deck_reference() {
  std::string text = R"(# Decks

<!-- Made from the table that the reader uses; do not edit. To renew it:
     tarn check --reference > docs/decks.md -->

A deck is a TOML file that describes one run. Every key is listed here, with its unit in its name.
`tarn check DECK` tells every problem of a deck at once, by line and column, and prints the deck
with all defaults filled in. `--set section.key=value` replaces or adds one key (`steps` and
`duration_ps` take each other's place, and so do the two frictions); a value that is not TOML is
taken as a string. `--unset section.key` reads the deck without a key, and `--unset
section` without a section, as in `--unset observe.rdf` or, for all of them, `--unset observe`; what
is set comes after what is unset. An integer will do for a number, a number will not do for an
integer. A key that the chosen scheme or thermostat does not use is an error, and so is an unknown
one.

The shortest deck that does something, seven molecules for a nanosecond at 10 K (with `zss-stiff`, whose bonds give way
a little; `[integrator] scheme = "settle"` is rigid water):

```toml
[system]
molecules = 7

[thermostat]
kind = "gla"
temperature_K = 10.0
friction_per_ps = 5.0

[run]
duration_ps = 1000.0

[observe.energies]
every = 1000
```

)";
  Deck defaults;
  text += schema_text(decks::water_schema(), defaults);
  text += R"(# Decks of mechanical systems

The other systems of the papers have no units, and keys of their own; `system.kind` decides. All
initial data may be given; without them the paper's are used.

```toml
[system]
kind = "double-pendulum"

[integrator]
scheme = "zs"
step = 0.1
omega = 20.0

[run]
duration = 50.0

[observe.trajectory]
every = 1
```

)";
  text += schema_text(decks::mechanics_schema(), defaults);
  text += "## What `trajectory.csv` holds\n\nIts `#` line says it too.\n\n" +
          decks::trajectory_columns_table();
  return text;
}

}  // namespace tarn
