#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "schema.hpp"

/// @file
/// How a row of a table of keys reads and writes its field of the deck.

namespace tarn::decks {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

inline std::string word_of(const Key& key, int value) {
  const auto found = std::find_if(key.words.begin(), key.words.end(),
                                  [&](const Word& word) { return word.value == value; });
  return std::string(found->text);
}

inline int value_of(const Key& key, std::string_view text) {
  const auto found = std::find_if(key.words.begin(), key.words.end(),
                                  [&](const Word& word) { return word.text == text; });
  return found->value;
}

template <class T>
Value to_value(const Key& key, const T& field) {
  if constexpr (IsOptional<T>::value) {
    return field ? to_value(key, *field) : Value{};
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return field.empty() ? Value{} : Value{field};
  } else if constexpr (std::is_enum_v<T>) {
    return word_of(key, static_cast<int>(field));
  } else if constexpr (std::is_same_v<T, ReplicaSelection>) {
    if (field.kind == ReplicaSelection::Kind::first) return std::int64_t{field.count};
    return word_of(key, static_cast<int>(field.kind));
  } else if constexpr (std::is_same_v<T, std::array<bool, kPairClasses>>) {
    std::vector<std::string> chosen;
    for (const Word& word : key.words) {
      if (field[static_cast<std::size_t>(word.value)]) chosen.emplace_back(word.text);
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
    field = static_cast<T>(value_of(key, std::get<std::string>(value)));
  } else if constexpr (std::is_same_v<T, ReplicaSelection>) {
    if (const auto* count = std::get_if<std::int64_t>(&value)) {
      field = {ReplicaSelection::Kind::first, static_cast<int>(*count)};
    } else {
      const int kind = value_of(key, std::get<std::string>(value));
      field = {static_cast<ReplicaSelection::Kind>(kind), 0};
    }
  } else if constexpr (std::is_same_v<T, std::array<bool, kPairClasses>>) {
    field.fill(false);
    for (const std::string& text : std::get<std::vector<std::string>>(value)) {
      field[static_cast<std::size_t>(value_of(key, text))] = true;
    }
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    field = static_cast<T>(std::get<std::int64_t>(value));
  } else {
    field = std::get<T>(value);
  }
}

/// A section of the deck or, where it belongs to that, of its mechanical part.
template <auto section, class D>
auto& section_of(D& deck) {
  if constexpr (std::is_invocable_v<decltype(section), Deck&>) {
    return deck.*section;
  } else {
    return deck.mechanics.*section;
  }
}

/// A row whose value is a field of that section.
template <auto section, auto field>
Key row(Key key) {
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

/// `[checkpoint] every_minutes`, the same in decks of both kinds.
inline Key every_minutes_row() {
  return row<&Deck::checkpoint, &CheckpointSection::every_minutes>(
      {.section = "checkpoint",
       .name = "every_minutes",
       .type = Type::number,
       .unit = "min",
       .range = {.low = 0.0},
       .meaning = "Wall time between checkpoints during the run, beside `every`; 0: none. No "
                  "result depends on it.",
       .may_change_on_resume = true});
}

template <auto member>
Section optional_section(Section section) {
  section.present = [](const Deck& deck) { return section_of<member>(deck).has_value(); };
  section.enable = [](Deck& deck) { section_of<member>(deck).emplace(); };
  return section;
}

/// The end of the ranges of steps.
constexpr double kMostSteps = static_cast<double>(kMaxSteps);

constexpr Range at_least(double low) { return {.low = low}; }
constexpr Range from_to(double low, double high) { return {.low = low, .high = high}; }
constexpr Range above_to(double low, double high) {
  return {.low = low, .high = high, .low_open = true};
}

/// How often an observer looks.
template <auto section, auto field>
Key every_row(std::string_view name, std::string_view meaning) {
  return row<section, field>({.section = name,
                              .name = "every",
                              .type = Type::integer,
                              .unit = "steps",
                              .range = from_to(1, kMostSteps),
                              .meaning = meaning});
}
/// The replicas that an observer looks at. @param words beside a number
template <auto section, auto field>
Key replicas_row(std::string_view name, std::vector<Word> words, std::string_view meaning) {
  return row<section, field>({.section = name,
                              .name = "replicas",
                              .type = Type::selection,
                              .range = from_to(1, kMaxReplicas),
                              .words = std::move(words),
                              .meaning = meaning});
}

/// run.threads, of both tables.
inline Key threads_row(std::string_view meaning) {
  return row<&Deck::run, &RunSection::threads>({.section = "run",
                                                .name = "threads",
                                                .type = Type::integer,
                                                .range = from_to(0, 4096),
                                                .meaning = meaning,
                                                .may_change_on_resume = true});
}

}  // namespace tarn::decks
