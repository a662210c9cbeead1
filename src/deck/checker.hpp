#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schema.hpp"
#include "source.hpp"
#include "tarn/start_state.hpp"

namespace tarn::decks {

/// What the path of a model names, for messages.
inline constexpr const char* kModelFile = "file with a water model";

/// Checks a value of a deck against the type and range of its key.
/// @param deck the values read so far, which determine the available choices of the schema
/// @param problems receives the problems
/// @return the value; empty if it has a problem
std::optional<Value> read_value(const Key& key, const RawValue& raw, const Schema& schema,
                                const Deck& deck, std::vector<Problem>& problems);

/// Checks a deck against the schema and the rules, and collects all problems.
///
/// After a problem it continues with the most likely correction, and it does not report problems
/// that follow from reported ones.
class Checker {
 public:
  /// @param path names the deck in messages and is the base of relative paths
  /// @param read_files whether to read the structure file or the state and to report its problems
  Checker(const std::string& path, bool read_files);
  /// For a deck of the papers' systems. @param schema, deck must outlive this
  Checker(const std::string& path, const Schema& schema, Deck& deck);

  /// @param removals sections and keys to remove from the text
  /// @throws InputError with every problem found
  Deck check(const std::string& text, const std::vector<Override>& overrides,
             const std::vector<Override>& removals = {});

  /// Reads only what defines the water model: [model], and the model and masses of [system].
  /// @throws InputError with every problem found in these parts
  Deck check_model(const std::string& text);

  /// For defaults that depend on other keys.
  Deck& deck() { return deck_; }
  /// The values read so far, and defaults.
  const Deck& deck() const { return deck_; }
  /// True if the deck gives the key a valid value.
  bool has(std::string_view path) const { return values_.find(path) != values_.end(); }
  /// The number that the deck gives the key; empty if there is none.
  std::optional<double> number(std::string_view path) const;
  /// Number of molecules of the structure file or the state if it was read, otherwise of the deck;
  /// 0 if unknown.
  std::int64_t molecules() const;
  /// Problems that prevent a start from the state, if it was read.
  const std::vector<KeyProblem>& start_problems() const { return start_problems_; }
  /// False if one of the keys has a problem: rules then ignore its value.
  bool is_reliable(const std::vector<std::string_view>& paths) const;
  /// Reports a problem at the value of a key or, if it is missing, at its section.
  void problem(std::string_view path, std::string message);
  template <class... T>
  void problem(std::string_view path, fmt::format_string<T...> message, T&&... values) {
    problem(path, fmt::format(message, std::forward<T>(values)...));
  }
  void problem_if(bool condition, std::string_view path, std::string message) {
    if (condition) problem(path, std::move(message));
  }

 private:
  void apply_removals(const std::vector<Override>& removals, Source& source);
  /// Puts the [model] of a file in place of its path in [system] model.
  void read_model_file(Source& source, std::vector<Entry>& overrides);
  /// @throws InputError if the deck is one of the papers' systems
  void refuse_paper_systems(const Source& source, const std::vector<Entry>& overrides) const;
  void read_sections(const Source& source);
  void apply_overrides(Source overrides);
  void read_entries();
  void read_entry(const Entry& entry);
  void unknown_key(const Entry& entry);
  void key_outside_sections(const Entry& entry);
  void section_as_key(const std::string& path, const Place& place);
  void choose_scheme_and_thermostat();
  void check_conditions();
  /// Reports a problem if the condition is not met. @return whether it is met
  bool check_condition(const Key& key, const Condition& condition);
  void read_structure_file(const StructureSource& source);
  /// Reports a problem if the file of a key does not exist. @return whether it exists
  bool check_file(const std::string& key, const std::string& path, const std::string& written);
  void read_start_state();
  /// Computes the number of steps from a duration.
  void set_steps_from_duration();
  void fill_defaults();

  void add_problem(const Place& place, std::string message);
  template <class... T>
  void add_problem(const Place& place, fmt::format_string<T...> message, T&&... values) {
    add_problem(place, fmt::format(message, std::forward<T>(values)...));
  }
  void add_problems(const InputError& error);
  void mark_unreliable(const std::string& path) { unreliable_.insert(path); }
  void mark_section_unreliable(std::string_view section);
  void open_section(const std::string& name, const Place& place);
  /// Reports an unknown section. @return the section that was probably meant
  std::string unknown_section(const std::string& name, const std::string& as_written,
                              const Place& place);

  [[noreturn]] void throw_problems();

  bool is_water() const { return schema_ == &water_schema(); }

  const Schema* schema_ = &water_schema();
  std::string path_;
  bool read_files_ = false;
  bool has_set_ = false;  ///< whether there are --set options
  Deck water_;
  Deck& deck_ = water_;
  std::vector<Problem> problems_;
  std::vector<Entry> entries_;  ///< in known sections only
  std::map<std::string, Place, std::less<>> sections_;
  std::map<std::string, std::pair<Value, Place>, std::less<>> values_;
  std::set<std::string, std::less<>> unreliable_;
  std::optional<int> start_molecules_;
  std::vector<KeyProblem> start_problems_;
};

/// A problem for each of the keys that the deck does not give: "[section] needs key".
void require_keys(Checker& checker, std::initializer_list<std::string_view> paths);

/// A problem if the deck gives none of the keys.
/// @param at the key at which the problem is reported
void require_one_of(Checker& checker, std::initializer_list<std::string_view> paths,
                    std::string_view at, const std::string& message);

/// A rule with one possible problem.
/// @param at the key at which it is reported
/// @param relies_on if one of these keys has a problem, the rule is not checked
/// @param problem its message; empty: there is none
Rule rule(std::string_view text, std::string_view at, std::vector<std::string_view> relies_on,
          std::function<std::string(const Checker&)> problem);
/// A rule that is broken if a condition holds.
Rule rule(std::string_view text, std::string_view at, std::vector<std::string_view> relies_on,
          std::string message, std::function<bool(const Checker&)> is_broken);
/// The rule of a limit that depends on the number of molecules.
Rule limit(std::string_view text,
           std::optional<std::string> (*problem)(const Deck&, std::int64_t molecules),
           std::string_view at, std::vector<std::string_view> relies_on);
/// Rules with their section.
std::vector<Rule> rules_of(std::string_view section, std::vector<Rule> rules);

}  // namespace tarn::decks
