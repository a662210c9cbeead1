#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tarn/core/message.hpp"
#include "tarn/deck.hpp"

/// @file
/// The tables of sections and keys. Reading and checking, suggestions, the resolved deck and the
/// reference page are all generated from them. The papers' systems have a table of their own.

namespace tarn::decks {

/// A checked value of a key; empty if the deck has none.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string,
                           std::vector<std::string>, std::vector<double>>;

enum class Type {
  boolean,
  integer,
  number,     ///< a float; integers are accepted
  choice,     ///< one of `choices`
  choices,    ///< a list of `choices`, each at most once
  numbers,    ///< a list of floats; integers are accepted
  selection,  ///< one of `choices`, or an integer
  file,       ///< a path
  files,      ///< a list of paths
  text,       ///< a string, which may be empty
  isotopes,   ///< a list of names, or a table of numbers, as strings "name=number"
  device,     ///< auto | cpu | cuda | cuda:i
};

/// The value of a Choice that is rejected; its description gives the reason.
inline constexpr int kRejected = -1;

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;          ///< excludes `low`
  bool infinity_allowed = false;  ///< accepts inf and "infinite"
};

/// When a key is used: if another key has one of these choices or, without choices, if the other
/// key is absent. An empty path means always, or with a section: if the deck has that section.
struct Condition {
  std::string_view path = {};
  std::vector<std::string_view> choices = {};
  /// The condition applies only if this third key has one of these choices; an empty path: always.
  std::string_view where = {};
  std::vector<std::string_view> where_choices = {};
  std::string_view text = {};  ///< in the reference, instead of the choices
  std::string_view section = {};
};

struct Choice {
  /// @param number value of the enum, or kRejected
  template <class Number>
  Choice(std::string_view name, Number number, std::string_view meaning = {}, Condition only = {})
      : text(name), value(static_cast<int>(number)), description(meaning), with(std::move(only)) {}

  std::string_view text;
  int value;
  std::string_view description;
  Condition with;  ///< messages offer the choice only if this is met
};

/// The less common properties of a key.
struct KeyOptions {
  std::string_view default_text = {};           ///< in the reference, if it is not a plain value
  std::vector<Condition> used_with = {};        ///< all must be met
  std::vector<std::string_view> excludes = {};  ///< keys of the section that exclude this one
  bool zero_means_absent = false;
  bool may_change_on_resume = false;
  std::string_view unit = {};  ///< empty: that of the suffix of the name
};

struct Key : KeyOptions {
  std::string_view section = {};  ///< make_schema() sets it
  std::string_view name = {};
  Type type = Type::number;
  Range range = {};
  std::vector<Choice> choices = {};
  std::string_view description = {};
  std::function<Value(const Key&, const Deck&)> read = {};
  std::function<void(const Key&, const Value&, Deck&)> write = {};

  Value get(const Deck& deck) const { return read(*this, deck); }
  void set(const Value& value, Deck& deck) const { write(*this, value, deck); }
  std::string path() const { return std::string(section) + '.' + std::string(name); }
};

struct Section {
  std::string_view name;
  std::string_view description;
  std::function<bool(const Deck&)> present = {};  ///< null: always present
  std::function<void(Deck&)> enable = {};
  /// Messages about valid settings of a section that is present; null: none.
  void (*messages)(const Deck&, Messages&) = nullptr;
};

class Checker;
struct Override;

/// A rule between keys: its sentence in the reference, its check, and the section whose keys it
/// concerns.
struct Rule {
  std::string_view text;
  std::function<void(Checker&)> check;
  std::string_view section = {};  ///< empty: that of its table
  /// A limit that depends on the number of molecules, which may be known later than the check: the
  /// problem, or nothing; null: none.
  std::optional<std::string> (*limit)(const Deck&, std::int64_t molecules) = nullptr;
};

/// Sections and keys in the order of the resolved deck and of the reference.
struct Schema {
  std::vector<Section> sections;
  std::vector<Key> keys;
  std::vector<Rule> rules;

  const Section* find_section(std::string_view name) const;
  const Key* find_key(std::string_view section, std::string_view name) const;
  const Key* find_key(std::string_view path) const;
  /// True if the deck meets the condition.
  bool is_met(const Condition& condition, const Deck& deck) const;
  /// True if the deck uses the key.
  bool is_used(const Key& key, const Deck& deck) const;
};
const Schema& water_schema();

/// The values of `system.kind` that the program tarn-papers runs.
inline constexpr std::array<std::string_view, 10> kPaperSystems{
    "double-pendulum",   "pendulum-chain", "dna",
    "three-body-plane",  "magnet",         "double-spring",
    "free-body",         "heavy-top",      "double-spherical-pendulum",
    "spherical-pendulum"};

/// Markdown text of all sections, keys and rules. @param defaults a deck without settings
std::string reference_text(const Schema& schema, Deck& defaults);
/// The deck as text: the keys in use that `keep` accepts, in the order of the schema.
std::string write_deck(const Schema& schema, const Deck& deck,
                       const std::function<bool(const Key&)>& keep);
/// The changes of "scheme" or "scheme:key=value:...", first that of the scheme.
/// @throws InputError if a later one names the scheme
std::vector<Override> scheme_overrides(const Schema& schema, const std::string& spec,
                                       const std::string& label);

/// The choices that are not rejected.
std::vector<std::string_view> accepted_choices(const Key& key);
/// The values that the key accepts: "an integer from 1 to 100000".
std::string expected_text(const Key& key);
/// A string in TOML syntax.
std::string toml_string(std::string_view text);
/// The shortest TOML text that reads back as the same double.
std::string number_text(double value);
/// A value in TOML syntax.
std::string toml_text(const Key& key, const Value& value);
/// "a, b, c".
std::string comma_list(const std::vector<std::string_view>& items, bool in_quotes = false);

}  // namespace tarn::decks
