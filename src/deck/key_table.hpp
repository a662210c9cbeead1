#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include "schema.hpp"

/// @file
/// The building blocks of the tables of keys: how a key reads and writes its field of the deck.

namespace tarn::decks {

template <class T>
concept Optional = requires(T value) {
  value.has_value();
};

/// Selections of the deck: a kind, of which one carries a number. `kind_of_number` is that kind.
template <class T>
inline constexpr auto kind_of_number = nullptr;
template <>
inline constexpr auto kind_of_number<ReplicaSelection> = ReplicaSelection::Kind::first;
template <>
inline constexpr auto kind_of_number<BeadSelection> = BeadSelection::Kind::one;
template <class T>
inline constexpr bool is_selection = std::is_enum_v<std::remove_cv_t<decltype(kind_of_number<T>)>>;

inline std::string choice_text(const Key& key, int value) {
  return std::string(std::ranges::find(key.choices, value, &Choice::value)->text);
}

inline int choice_value(const Key& key, std::string_view text) {
  return std::ranges::find(key.choices, text, &Choice::text)->value;
}

template <class T>
Value to_value(const Key& key, const T& field) {
  if constexpr (Optional<T>) {
    return field ? to_value(key, *field) : Value{};
  } else if constexpr (std::is_same_v<T, std::vector<double>> ||
                       std::is_same_v<T, std::vector<std::string>>) {
    return field.empty() ? Value{} : Value{field};
  } else if constexpr (std::is_enum_v<T>) {
    return choice_text(key, static_cast<int>(field));
  } else if constexpr (is_selection<T>) {
    const auto& [kind, number] = field;
    if (kind == kind_of_number<T>) return std::int64_t{number};
    return choice_text(key, static_cast<int>(kind));
  } else if constexpr (std::is_same_v<T, std::array<bool, kPairClasses>>) {
    std::vector<std::string> chosen;
    for (const Choice& choice : key.choices) {
      if (field[static_cast<std::size_t>(choice.value)]) chosen.emplace_back(choice.text);
    }
    return chosen;
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (key.zero_means_absent && field == 0) return {};
    return static_cast<std::int64_t>(field);
  } else {
    return field;
  }
}

template <class T>
void from_value(const Key& key, const Value& value, T& field) {
  if constexpr (Optional<T>) {
    from_value(key, value, field.emplace());
  } else if constexpr (std::is_enum_v<T>) {
    field = static_cast<T>(choice_value(key, std::get<std::string>(value)));
  } else if constexpr (is_selection<T>) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      field = {kind_of_number<T>, static_cast<int>(*number)};
    } else {
      const int kind = choice_value(key, std::get<std::string>(value));
      field = {static_cast<decltype(field.kind)>(kind), 0};
    }
  } else if constexpr (std::is_same_v<T, std::array<bool, kPairClasses>>) {
    field.fill(false);
    for (const std::string& text : std::get<std::vector<std::string>>(value)) {
      field[static_cast<std::size_t>(choice_value(key, text))] = true;
    }
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    field = static_cast<T>(std::get<std::int64_t>(value));
  } else {
    field = std::get<T>(value);
  }
}

/// Upper bound of step counts.
constexpr double kStepLimit = static_cast<double>(kMaxSteps);

constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range from_to(double low, double high) { return {.low = low, .high = high}; }
constexpr Range above(double low) { return {.low = low, .low_open = true}; }
constexpr Range above_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}

constexpr Range or_infinite(Range range) {
  range.infinity_allowed = true;
  return range;
}
/// The values of booleans, paths and unlimited numbers.
constexpr Range kAny{};

/// The values of a key: a range of numbers, choices, or both.
struct Values {
  Values(Range numbers) : range(numbers) {}
  Values(std::vector<Choice> names) : choices(std::move(names)) {}
  Values(std::initializer_list<Choice> names) : choices(names) {}
  Values(Range numbers, std::vector<Choice> names) : range(numbers), choices(std::move(names)) {}
  Values(Type other) : type(other) {}

  Range range = {};
  std::vector<Choice> choices = {};
  std::optional<Type> type = {};  ///< by default that of the field
};

/// The unit at the end of the name of a key; empty without one.
std::string_view unit_of(std::string_view name);

/// The type of the keys with a field of type T.
template <class T>
constexpr Type type_of(bool has_choices) {
  if constexpr (Optional<T>) return type_of<typename T::value_type>(has_choices);
  if (std::is_same_v<T, bool>) return Type::boolean;
  if (std::is_integral_v<T>) return Type::integer;
  if (std::is_same_v<T, double>) return Type::number;
  if (std::is_same_v<T, std::vector<double>>) return Type::numbers;
  if (std::is_same_v<T, std::vector<std::string>>) return Type::files;
  if (std::is_same_v<T, std::array<bool, kPairClasses>>) return Type::choices;
  if (is_selection<T>) return Type::selection;
  return has_choices ? Type::choice : Type::file;
}

/// A key of a section of type S.
template <class S>
struct KeyOf {
  Key key;
  std::function<Value(const Key&, const S&)> read;
  std::function<void(const Key&, const Value&, S&)> write;
};

/// A key whose value is a field of its section. Its type is that of the field, its default the
/// field's initial value, and its unit the end of its name.
template <class S, class T>
KeyOf<S> key(T S::*field, std::string_view name, Values values, std::string_view description,
             KeyOptions options = {}) {
  Key key{std::move(options)};
  key.name = name;
  if (key.unit.empty()) key.unit = unit_of(name);
  key.type = values.type.value_or(type_of<T>(!values.choices.empty()));
  key.range = values.range;
  key.choices = std::move(values.choices);
  key.description = description;
  return {std::move(key),
          [field](const Key& self, const S& section) { return to_value(self, section.*field); },
          [field](const Key& self, const Value& value, S& section) {
            from_value(self, value, section.*field);
          }};
}

/// The interval between the samples of an observer.
template <class S>
KeyOf<S> every_key(std::string_view description = "Output interval; step 0 is included.") {
  return key(&S::every, "every", from_to(1, kStepLimit), description);
}

/// The replicas that an observer writes. @param choices accepted in addition to a number
template <class S>
KeyOf<S> replicas_key(std::vector<Choice> choices, std::string_view description) {
  return key(&S::replicas, "replicas", {from_to(1, kMaxReplicas), std::move(choices)}, description);
}

/// The length of the run in time. It has no field: the checker computes the number of steps after
/// reading all keys.
template <class S>
KeyOf<S> duration_key(std::string_view name, Range range, std::vector<Condition> used_with = {}) {
  KeyOf<S> duration = key(&S::steps, name, range,
                          "Length of the run, rounded up to whole steps; the resolved deck "
                          "contains `steps`.",
                          {.default_text = "from `steps`",
                           .used_with = std::move(used_with),
                           .excludes = {"steps"},
                           .may_change_on_resume = true});
  duration.key.type = Type::number;
  duration.read = [](const Key&, const S&) { return Value{}; };
  duration.write = [](const Key&, const Value&, S&) {};
  return duration;
}

/// A section with its keys and rules, which need not name it.
struct SectionTable {
  Section section;
  std::vector<Key> keys;
  std::vector<Rule> rules = {};
};

/// A member of a deck. The decks of the papers have an overload of their own.
template <class Member>
auto& member_of(auto& deck, Member Deck::*member) {
  return deck.*member;
}

/// A section, or null if it is left out.
auto* pointer_to(auto& section) {
  if constexpr (Optional<decltype(section)>) {
    return section ? &*section : nullptr;
  } else {
    return &section;
  }
}

/// The type of a section, from that of its member.
template <class Member>
using SectionOf = std::remove_pointer_t<decltype(pointer_to(std::declval<Member&>()))>;

/// The keys of a section of the deck. @param member of Deck; may be optional
template <class D, class Member>
std::vector<Key> keys_of(Member D::*member, std::vector<KeyOf<SectionOf<Member>>> keys) {
  std::vector<Key> all;
  for (auto& key : keys) {
    key.key.read = [member, read = std::move(key.read)](const Key& self, const Deck& deck) {
      const auto* section = pointer_to(member_of(deck, member));
      return section != nullptr ? read(self, *section) : Value{};
    };
    key.key.write = [member, write = std::move(key.write)](const Key& self, const Value& value,
                                                           Deck& deck) {
      write(self, value, *pointer_to(member_of(deck, member)));
    };
    all.push_back(std::move(key.key));
  }
  return all;
}

/// A section with its keys and rules. @param member of Deck; an optional: decks may leave the
/// section out
template <class D, class Member>
SectionTable section(Member D::*member, std::string_view name, std::string_view description,
                     std::vector<KeyOf<SectionOf<Member>>> keys, std::vector<Rule> rules = {},
                     void (*messages)(const Deck&, Messages&) = nullptr) {
  SectionTable table{{name, description}, keys_of(member, std::move(keys)), std::move(rules)};
  table.section.messages = messages;
  if constexpr (Optional<Member>) {
    table.section.present = [member](const Deck& deck) {
      return member_of(deck, member).has_value();
    };
    table.section.enable = [member](Deck& deck) { member_of(deck, member).emplace(); };
  }
  return table;
}

template <class K>
std::vector<K> joined(std::initializer_list<std::vector<K>> lists) {
  std::vector<K> all;
  for (const std::vector<K>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Joins tables of sections. @param rules those that are not in a table, which come first
inline Schema make_schema(std::vector<SectionTable> tables, std::vector<Rule> rules) {
  Schema schema;
  schema.rules = std::move(rules);
  for (SectionTable& table : tables) {
    for (Key& key : table.keys) {
      key.section = table.section.name;
      schema.keys.push_back(std::move(key));
    }
    for (Rule& rule : table.rules) {
      if (rule.section.empty()) rule.section = table.section.name;
      schema.rules.push_back(std::move(rule));
    }
    schema.sections.push_back(table.section);
  }
  return schema;
}

}  // namespace tarn::decks
