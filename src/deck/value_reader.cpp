#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "checker.hpp"
#include "interface/measure.hpp"
#include "io/words.hpp"
#include "source.hpp"
#include "tarn/physics/isotopes.hpp"

namespace tarn::decks {
namespace {

std::string_view type_text(RawValue::Kind kind) {
  constexpr std::array<std::string_view, 7> kTypes{
      "a boolean", "an integer", "a floating-point number", "a string",
      "a list",    "a table",    "a date or time"};
  return kTypes[static_cast<std::size_t>(kind)];
}

constexpr const char* kLargestIntegerHint =
    "; the largest integer is 2^63 - 1 = 9223372036854775807";

/// True for digits of a number that exceeds the integers of TOML.
bool is_too_large(const std::string& text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  std::int64_t ignored = 0;
  return digits && std::from_chars(text.data(), text.data() + text.size(), ignored).ec ==
                       std::errc::result_out_of_range;
}

bool is_text(Type type) {
  return type == Type::choice || type == Type::file || type == Type::text || type == Type::device;
}

/// How to correct a value of the wrong type, if it is clear.
std::string correction_hint(const Key& key, const RawValue& raw) {
  using Kind = RawValue::Kind;
  const bool wants_number =
      key.type == Type::integer || key.type == Type::number || key.type == Type::selection;
  if (raw.kind == Kind::number && wants_number && raw.number == std::trunc(raw.number) &&
      std::abs(raw.number) < 1e18) {
    return fmt::format("; write {}", static_cast<std::int64_t>(raw.number));
  }
  if (raw.kind == Kind::string) {
    if (key.type == Type::integer && is_too_large(raw.string)) return kLargestIntegerHint;
    if ((wants_number && io::finite_number(raw.string)) ||
        (key.type == Type::boolean && (raw.string == "true" || raw.string == "false"))) {
      return "; write it without quotes";
    }
    if (key.type == Type::choices || key.type == Type::files) {
      return fmt::format("; write [{}]", raw.text);
    }
  }
  if (raw.kind == Kind::integer && key.type == Type::boolean &&
      (raw.integer == 0 || raw.integer == 1)) {
    return raw.integer == 1 ? "; write true" : "; write false";
  }
  const bool is_list = raw.kind == Kind::array || raw.kind == Kind::table;
  return is_text(key.type) && !is_list ? "; put it in quotes" : "";
}

/// Whether a string can be the value of the key.
bool takes_text(const Key& key, std::string_view text) {
  if (key.type == Type::selection) return std::isalpha(static_cast<unsigned char>(text[0])) != 0;
  if (key.type == Type::number) return key.range.infinity_allowed && text == "infinite";
  return is_text(key.type);
}

/// How to write a value without quotes that is not TOML, if it is clear.
std::string bare_value_hint(const Key& key, const std::string& text) {
  const bool wants_list =
      key.type == Type::choices || key.type == Type::numbers || key.type == Type::files;
  if (wants_list) {
    std::string list;
    for (std::string_view word : io::split(text, ',')) {
      word = io::trimmed(word);
      if (key.type == Type::numbers && !io::finite_number(word)) return {};
      list += fmt::format("{}{}", list.empty() ? "" : ", ",
                          key.type == Type::numbers ? std::string(word) : toml_string(word));
    }
    return fmt::format("; write [{}]", list);
  }
  if (key.type == Type::boolean) {
    const auto is = [&](const char* word) { return edit_distance(text, word) == 0; };
    if (is("true") || is("yes") || is("on")) return "; write true";
    if (is("false") || is("no") || is("off")) return "; write false";
    return {};
  }
  if (is_too_large(text)) return kLargestIntegerHint;
  // A number that TOML writes in another way, or one with its unit.
  const std::size_t end = std::min(text.find_first_not_of("+-.0123456789eE_"), text.size());
  const std::optional<double> number = io::finite_number(io::trimmed(text.substr(0, end)));
  const std::string_view unit = io::trimmed(std::string_view(text).substr(end));
  const bool is_unit = unit.empty() || key.name.ends_with('_' + std::string(unit));
  if (!number || !is_unit) return {};
  if (key.type == Type::number) return "; write " + number_text(*number);
  return *number == std::trunc(*number) ? fmt::format("; write {:.0f}", *number) : "";
}

/// A value without quotes of a key that is not a string.
std::string bare_value_message(const Key& key, const RawValue& raw) {
  if (raw.string.empty()) {
    return fmt::format("{} has no value; expected {}", key.name, expected_text(key));
  }
  const char* wanted = key.type == Type::boolean     ? "a boolean"
                       : key.type == Type::integer   ? "an integer"
                       : key.type == Type::number    ? "a number"
                       : key.type == Type::selection ? "a string or an integer"
                                                     : "a list";
  const std::string& text = raw.place.line > 0 ? raw.text : raw.string;
  return fmt::format("{} = {} is not {}; expected {}{}", key.name, text, wanted, expected_text(key),
                     bare_value_hint(key, raw.string));
}

bool is_device(std::string_view text) {
  return text == "auto" || text == "cpu" || parse_cuda_devices(text).has_value();
}

/// Checks a value against the type and range of its key.
class ValueReader {
 public:
  ValueReader(const Schema& schema, const Deck& deck, std::vector<Problem>& problems)
      : schema_(schema), deck_(deck), problems_(problems) {}

  std::optional<Value> read(const Key& key, const RawValue& raw) {
    if (raw.is_bare && (raw.string.empty() || !takes_text(key, raw.string))) {
      return refuse(raw.place, "{}", bare_value_message(key, raw));
    }
    std::optional<Value> value = read_value(key, raw);
    // --set takes strings without quotes.
    if (value && raw.is_bare && raw.place.line > 0) {
      refuse(raw.place, "{0} = {1}: a string needs quotes; write {0} = {2}", key.name, raw.text,
             toml_string(raw.string));
    }
    return value;
  }

 private:
  std::optional<Value> read_value(const Key& key, const RawValue& raw) {
    const auto items_of = [&](Type type) {
      return [&, type](const RawValue& item) {
        Key element = key;
        element.type = type;
        return read_value(element, item);
      };
    };
    switch (key.type) {
      case Type::boolean:
        if (raw.kind == RawValue::Kind::boolean) return Value{raw.boolean};
        break;
      case Type::integer:
      case Type::number:
        return read_number(key, raw);
      case Type::selection:
        if (raw.kind == RawValue::Kind::string && !io::finite_number(raw.string))
          return read_choice(key, raw);
        return read_number(key, raw);
      case Type::choice:
        return read_choice(key, raw);
      case Type::choices:
        return read_choices(key, raw);
      case Type::numbers:
        return read_list<double>(key, raw, items_of(Type::number));
      case Type::file:
        if (raw.kind != RawValue::Kind::string) break;
        if (raw.string.empty()) return refuse_empty(key, raw);
        return Value{raw.string};
      case Type::files:
        return read_list<std::string>(key, raw, items_of(Type::file));
      case Type::isotopes:
        return read_isotopes(key, raw);
      case Type::text:
        if (raw.kind == RawValue::Kind::string) return Value{raw.string};
        break;
      case Type::device: {
        if (raw.kind != RawValue::Kind::string) break;
        if (is_device(raw.string)) return Value{raw.string};
        const std::string meant = nearest(raw.string, {"auto", "cpu", "cuda"}).name;
        return refuse(raw.place, "{} = {} is unknown{}; expected {}", key.name, raw.text,
                      did_you_mean(meant), expected_text(key));
      }
    }
    return wrong_type(key, raw);
  }

  std::optional<Value> read_number(const Key& key, const RawValue& raw) {
    const bool wants_float = key.type == Type::number;
    const bool spelled_infinite = key.range.infinity_allowed &&
                                  raw.kind == RawValue::Kind::string && raw.string == "infinite";
    if (!spelled_infinite && raw.kind != RawValue::Kind::integer &&
        !(wants_float && raw.kind == RawValue::Kind::number)) {
      return wrong_type(key, raw);
    }
    const double number = spelled_infinite ? std::numeric_limits<double>::infinity()
                          : raw.kind == RawValue::Kind::integer ? static_cast<double>(raw.integer)
                                                                : raw.number;
    const Range& range = key.range;
    if (std::isinf(number) && number > 0 && range.infinity_allowed) return Value{number};
    if (!std::isfinite(number)) {
      return refuse(raw.place, "{} = {} is not finite; expected {}", key.name, raw.text,
                    expected_text(key));
    }
    const bool low = number < range.low || (range.low_open && number == range.low);
    if (low || number > range.high) {
      return refuse(raw.place, "{} = {} is out of range; expected {}", key.name, raw.text,
                    expected_text(key));
    }
    if (wants_float) return Value{number};
    return Value{raw.integer};
  }

  std::optional<Value> read_choice(const Key& key, const RawValue& raw) {
    if (raw.kind != RawValue::Kind::string) {
      return wrong_type(key, raw);
    }
    for (const Choice& choice : key.choices) {
      if (choice.text != raw.string) continue;
      if (choice.value >= 0) return Value{raw.string};
      return refuse(raw.place, "{} = {} is not possible: {}; expected {}", key.name, raw.text,
                    choice.description, expected_text(key));
    }
    const Key here = with_available_choices(key);
    const auto closest = key.path() == "system.model" ? nearest_model : nearest;
    const std::string meant = closest(raw.string, accepted_choices(here)).name;
    return refuse(raw.place, "{} = {} is unknown{}; expected {}", key.name, raw.text,
                  did_you_mean(meant), expected_text(here));
  }

  std::optional<Value> read_choices(const Key& key, const RawValue& raw) {
    std::set<std::string> chosen;
    return read_list<std::string>(key, raw, [&](const RawValue& item) -> std::optional<Value> {
      const std::optional<Value> choice = read_choice(key, item);
      if (!choice || chosen.insert(std::get<std::string>(*choice)).second) return choice;
      return refuse(item.place, "{} contains {} twice", key.name, toml_string(item.string));
    });
  }

  std::optional<Value> read_isotopes(const Key& key, const RawValue& raw) {
    const bool counted = raw.kind == RawValue::Kind::table;
    RawValue list = raw;
    if (counted) list.kind = RawValue::Kind::array;
    return read_list<std::string>(key, list, [&](const RawValue& item) -> std::optional<Value> {
      if (item.kind != (counted ? RawValue::Kind::integer : RawValue::Kind::string) ||
          (counted && item.integer < 1)) {
        return refuse(item.place, "{}: {} = {}; expected {}", key.name,
                      counted ? item.string : "an element", item.text,
                      counted ? "a number of molecules above 0" : "a name in quotes");
      }
      if (!isotope_masses_Da(item.string)) {
        return refuse(item.place, "{}: {} is unknown; expected {}", key.name,
                      toml_string(item.string), kIsotopeNames);
      }
      return Value{counted ? fmt::format("{} = {}", item.string, item.integer) : item.string};
    });
  }

  /// @param read std::optional<Value>(const RawValue& item), which reports problems
  template <class T, class Read>
  std::optional<Value> read_list(const Key& key, const RawValue& raw, const Read& read) {
    if (raw.kind != RawValue::Kind::array) return wrong_type(key, raw);
    if (raw.items.empty()) return refuse_empty(key, raw);
    std::vector<T> values;
    for (const RawValue& item : raw.items) {
      if (const std::optional<Value> value = read(item)) values.push_back(std::get<T>(*value));
    }
    if (values.size() < raw.items.size()) return std::nullopt;
    return Value{values};
  }

  std::nullopt_t wrong_type(const Key& key, const RawValue& raw) {
    const bool shown = raw.kind != RawValue::Kind::other;
    return refuse(raw.place, "{}{} is {}; expected {}{}", key.name,
                  shown ? " = " + raw.text : std::string{}, type_text(raw.kind),
                  expected_text(with_available_choices(key)), correction_hint(key, raw));
  }

  std::nullopt_t refuse_empty(const Key& key, const RawValue& raw) {
    return refuse(raw.place, "{} is empty; expected {}", key.name, expected_text(key));
  }

  /// Reports a problem.
  template <class... T>
  std::nullopt_t refuse(const Place& place, fmt::format_string<T...> message, T&&... values) {
    problems_.push_back(
        {place.file, place.line, place.column, fmt::format(message, std::forward<T>(values)...)});
    return std::nullopt;
  }

  /// The key with only the choices that are available in this deck.
  Key with_available_choices(const Key& key) const {
    Key here = key;
    std::erase_if(here.choices,
                  [&](const Choice& choice) { return !schema_.is_met(choice.with, deck_); });
    return here;
  }

  const Schema& schema_;
  const Deck& deck_;
  std::vector<Problem>& problems_;
};

}  // namespace

std::optional<Value> read_value(const Key& key, const RawValue& raw, const Schema& schema,
                                const Deck& deck, std::vector<Problem>& problems) {
  return ValueReader(schema, deck, problems).read(key, raw);
}

}  // namespace tarn::decks
