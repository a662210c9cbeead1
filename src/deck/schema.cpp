#include "schema.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace tarn::decks
