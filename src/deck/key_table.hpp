#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>

#include "schema.hpp"

/// @file
/// The building blocks of the tables of keys: how a key reads and writes its field of the deck.

namespace tarn::decks {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

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
  const auto found = std::find_if(key.choices.begin(), key.choices.end(),
                                  [&](const Choice& choice) { return choice.value == value; });
  return std::string(found->text);
}

inline int choice_value(const Key& key, std::string_view text) {
  const auto found = std::find_if(key.choices.begin(), key.choices.end(),
                                  [&](const Choice& choice) { return choice.text == text; });
  return found->value;
}

template <class T>
Value to_value(const Key& key, const T& field) {
  if constexpr (IsOptional<T>::value) {
    return field ? to_value(key, *field) : Value{};
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
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
  if constexpr (IsOptional<T>::value) {
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

/// A section of the deck or, for members of MechanicsDeck, of its mechanical part.
template <auto section, class D>
auto& section_of(D& deck) {
  if constexpr (std::is_invocable_v<decltype(section), Deck&>) {
    return deck.*section;
  } else {
    return deck.mechanics.*section;
  }
}

/// A key whose value is a field of that section.
template <auto section, auto field>
Key field_key(Key key) {
  using Member = std::remove_cvref_t<decltype(section_of<section>(std::declval<Deck&>()))>;
  key.get = [](const Key& self, const Deck& deck) -> Value {
    const Member& member = section_of<section>(deck);
    if constexpr (IsOptional<Member>::value) {
      return member ? to_value(self, (*member).*field) : Value{};
    } else {
      return to_value(self, member.*field);
    }
  };
  key.set = [](const Key& self, const Value& value, Deck& deck) {
    Member& member = section_of<section>(deck);
    if constexpr (IsOptional<Member>::value) {
      from_value(self, value, (*member).*field);
    } else {
      from_value(self, value, member.*field);
    }
  };
  return key;
}

/// A section that a deck may leave out.
template <auto member>
Section optional_section(Section section) {
  section.present = [](const Deck& deck) { return section_of<member>(deck).has_value(); };
  section.enable = [](Deck& deck) { section_of<member>(deck).emplace(); };
  return section;
}

/// The value of an enum as Choice::value.
template <class Enum>
constexpr int code(Enum value) {
  return static_cast<int>(value);
}

/// Upper bound of step counts.
constexpr double kStepLimit = static_cast<double>(kMaxSteps);

constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range from_to(double low, double high) { return {.low = low, .high = high}; }
constexpr Range above(double low) { return {.low = low, .low_open = true}; }
constexpr Range above_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}

/// `[run] steps`.
/// @param key its description, conditions and the key of the duration, which it excludes
template <auto section, auto field>
Key steps_key(Key key) {
  key.name = "steps";
  key.type = Type::integer;
  key.range = from_to(0, kStepLimit);
  key.description = "Number of steps.";
  key.may_change_on_resume = true;
  return field_key<section, field>(std::move(key));
}

/// The interval between the samples of an observer.
template <auto section, auto field>
Key interval_key(std::string_view description = "Output interval; step 0 is included.") {
  return field_key<section, field>({.name = "every",
                                    .type = Type::integer,
                                    .unit = "steps",
                                    .range = from_to(1, kStepLimit),
                                    .description = description});
}

/// The replicas that an observer writes. @param choices accepted in addition to a number
template <auto section, auto field>
Key replicas_key(std::vector<Choice> choices, std::string_view description) {
  return field_key<section, field>({.name = "replicas",
                                    .type = Type::selection,
                                    .range = from_to(1, kMaxReplicas),
                                    .choices = std::move(choices),
                                    .description = description});
}

/// A section with its keys, which need not name it.
struct SectionTable {
  Section section;
  std::vector<Key> keys;
};

inline std::vector<Key> joined(std::initializer_list<std::vector<Key>> lists) {
  std::vector<Key> all;
  for (const std::vector<Key>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Joins tables of sections.
inline Schema make_schema(std::vector<SectionTable> tables, std::vector<Rule> rules) {
  Schema schema;
  schema.rules = std::move(rules);
  for (SectionTable& table : tables) {
    for (Key& key : table.keys) {
      key.section = table.section.name;
      schema.keys.push_back(std::move(key));
    }
    schema.sections.push_back(table.section);
  }
  return schema;
}

/// @name Keys that decks of water and of mechanical systems share
/// @{
Key kind_key();
/// The length of the run in time. It has no field of its own: the checker computes the number of
/// steps after reading all keys.
/// @param key its name, unit, range and conditions
Key duration_key(Key key);
/// `[run] threads`
Key threads_key(std::string_view description);
SectionTable checkpoint_section();
/// @}

}  // namespace tarn::decks
