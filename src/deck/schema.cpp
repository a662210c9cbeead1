#include "schema.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "source.hpp"
#include "tarn/core/error.hpp"

namespace tarn::decks {
namespace {

bool is_integer_type(Type type) { return type == Type::integer || type == Type::selection; }

std::string bound_text(const Key& key, double bound) {
  return is_integer_type(key.type) ? fmt::format("{:.0f}", bound) : fmt::format("{}", bound);
}

std::string range_text(const Key& key) {
  const Range& range = key.range;
  const bool top = std::isfinite(range.high);
  const std::string low = bound_text(key, range.low);
  if (!top && !std::isfinite(range.low)) return {};
  if (!top) return (range.low_open ? " greater than " : " of at least ") + low;
  const std::string high = bound_text(key, range.high);
  if (range.low_open) return fmt::format(" greater than {} and at most {}", low, high);
  return fmt::format(" from {} to {}", low, high);
}

std::string code(std::string_view text) { return fmt::format("`{}`", text); }

std::string default_cell(const Key& key, const Deck& defaults) {
  if (!key.default_text.empty()) return std::string(key.default_text);
  return code(toml_text(key, key.get(defaults)));
}

std::string condition_text(const Schema& schema, const Condition& condition) {
  if (!condition.section.empty()) return code(fmt::format("[{}]", condition.section));
  if (condition.path.empty()) return {};
  if (!condition.text.empty()) return std::string(condition.text);
  const Key& other = *schema.find_key(condition.path);
  if (condition.choices.empty()) return "no " + code(other.name);
  const auto one_of = [](const Key& key, const std::vector<std::string_view>& choices) {
    const auto quoted = [](std::string_view choice) { return code(toml_string(choice)); };
    return fmt::format("{} = {}", code(key.name),
                       fmt::join(choices | std::views::transform(quoted), ", "));
  };
  const std::string text = one_of(other, condition.choices);
  if (condition.where.empty()) return text;
  return fmt::format("where {}, {}",
                     one_of(*schema.find_key(condition.where), condition.where_choices), text);
}

std::string condition_text(const Schema& schema, const Key& key) {
  std::string text;
  for (const Condition& condition : key.used_with) {
    const std::string more = condition_text(schema, condition);
    if (!text.ends_with(more)) text += (text.empty() ? "" : "; ") + more;
  }
  return text;
}

/// The choices of a key with their descriptions, as a nested list.
std::string choices_text(const Key& key) {
  std::string text;
  for (const Choice& choice : key.choices) {
    if (choice.value < 0 || choice.description.empty()) continue;
    if (text.empty()) text = fmt::format("- {}\n", code(key.name));
    text += fmt::format("  - {}: {}\n", code(toml_string(choice.text)), choice.description);
  }
  return text;
}

/// The values of a key, with its unit, unless a list below the table describes them all.
std::string value_cell(const Key& key) {
  const auto is_described = [](const Choice& c) { return !c.description.empty(); };
  if (key.choices.size() > 1 && std::all_of(key.choices.begin(), key.choices.end(), is_described)) {
    return "see below";
  }
  std::string text = expected_text(key);
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
std::string section_text(const Schema& schema, const Section& section, const Deck& defaults,
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
  for (const Rule& rule : schema.rules) {
    if (rule.section == section.name) rules += fmt::format("- {}\n", rule.text);
  }
  if (!rules.empty()) text += "Rules:\n\n" + rules + '\n';
  return text;
}

}  // namespace

const Section* Schema::find_section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
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
  const auto value_of = [&](std::string_view path) { return find_key(path)->get(deck); };
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

std::vector<std::string_view> accepted_choices(const Key& key) {
  std::vector<std::string_view> choices;
  for (const Choice& choice : key.choices) {
    if (choice.value >= 0) choices.push_back(choice.text);
  }
  return choices;
}

std::string expected_text(const Key& key) {
  const std::vector<std::string_view> choices = accepted_choices(key);
  const std::string list = comma_list(choices, true);
  switch (key.type) {
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "an integer" + range_text(key);
    case Type::number:
      return "a number" + range_text(key) + (key.range.infinity_allowed ? ", or \"infinite\"" : "");
    case Type::choice:
      return choices.size() == 1 ? list : "one of " + list;
    case Type::choices:
      return "a list of some of " + list;
    case Type::numbers:
      return "a list of numbers" + range_text(key);
    case Type::selection:
      return list + " or an integer" + range_text(key);
    case Type::file:
      return "a path in quotes";
    case Type::files:
      return "a list of paths in quotes";
    case Type::isotopes:
      return "a list with the name of each molecule, or numbers of molecules such as { D2O = 2, "
             "HDO = 1 }";
    case Type::text:
      return "a text in quotes";
    case Type::device:
      return R"("auto", "cpu", "cuda", "cuda:i" with the number i of a device, "cuda:i,j" or "cuda:all")";
  }
  return {};
}

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(const Key& key, const Value& value) {
  struct Writer {
    const Key& key;
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const {
      return key.range.infinity_allowed && std::isinf(number) ? "\"infinite\""
                                                              : number_text(number);
    }
    std::string operator()(const std::string& text) const { return toml_string(text); }
    std::string operator()(const std::vector<std::string>& list) const {
      if (key.type == Type::isotopes && list.front().find('=') != std::string::npos) {
        return fmt::format("{{ {} }}", fmt::join(list, ", "));
      }
      return '[' + comma_list({list.begin(), list.end()}, true) + ']';
    }
    std::string operator()(const std::vector<double>& list) const {
      return fmt::format("[{}]", fmt::join(list | std::views::transform(number_text), ", "));
    }
  };
  return std::visit(Writer{key}, value);
}

std::string comma_list(const std::vector<std::string_view>& items, bool in_quotes) {
  std::string result;
  for (std::string_view item : items) {
    if (!result.empty()) result += ", ";
    result += in_quotes ? toml_string(item) : std::string(item);
  }
  return result;
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
      throw InputError(label, 0, "write the scheme first, as in " + part.substr(7));
    }
    overrides.push_back({"integrator." + part, label, "key=value"});
  }
  return overrides;
}

std::string reference_text(const Schema& schema, Deck& defaults) {
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

}  // namespace tarn::decks

std::string tarn::deck_reference() {
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
  for (const decks::Key& key : decks::water_schema().keys) {
    if (key.may_change_on_resume)
      changing += (changing.empty() ? "" : ", ") + decks::code(key.path());
  }
  text += changing + ". All other keys must stay the same.\n";
  return text;
}
