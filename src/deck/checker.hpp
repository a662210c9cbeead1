#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema.hpp"
#include "source.hpp"
#include "tarn/start_state.hpp"

namespace tarn::decks {

/// Checks a source against the schema and the rules, and gathers every problem.
///
/// It goes on after a problem as though the likely thing had been meant, and keeps quiet about
/// whatever only follows from a problem that it has already told.
class Checker {
 public:
  /// @param path names the deck in messages and anchors relative files
  /// @param look_at_files true: the structure file or the state is read, and its problems are
  /// the deck's
  Checker(const std::string& path, bool read_files);

  /// @param removals sections and keys that the text is read without
  /// @throws InputError with every problem found
  Deck check(const std::string& text, const std::vector<Override>& overrides,
             const std::vector<Override>& removals = {});

  /// For the defaults that a table fills in.
  Deck& deck() { return deck_; }
  /// The values read so far, defaults elsewhere.
  const Deck& deck() const { return deck_; }
  /// True if the deck gives the key a value that is good by itself.
  bool has(std::string_view path) const { return values_.find(path) != values_.end(); }
  /// The number that the deck gives the key, or nothing.
  std::optional<double> number(std::string_view path) const;
  /// Those of the structure file or the state where it was read, of the deck otherwise; 0: neither
  /// says.
  std::int64_t molecules() const;
  /// What keeps the state, where it was read, from being a start.
  const std::vector<KeyProblem>& start_problems() const { return start_problems_; }
  /// False if something was wrong with one of the keys, so that nothing can be said about it.
  bool is_reliable(std::initializer_list<std::string_view> paths) const;
  /// A problem with a key, told at its value or, where it is missing, at its section.
  void problem(std::string_view path, std::string message);

 private:
  void apply_removals(const std::vector<Override>& removals, Source& source);
  void choose_schema(const Source& source, const std::vector<Entry>& overrides);
  void read_sections(const Source& source);
  void apply_overrides(std::vector<Entry> overrides);
  void read_entries();
  void read_entry(const Entry& entry);
  void unknown_key(const Entry& entry);
  void key_outside_sections(const Entry& entry);
  void check_conditions();
  /// @return whether it holds; where it does not, that is told
  bool check_condition(const Key& key, const Condition& condition);
  /// How the command line is rid of a key of the deck that its own changes leave without a use.
  std::string unset_hint(const Key& key, const Place& place) const;
  void read_structure_file();
  void read_start_state();
  /// Of a duration.
  void set_steps_from_duration();
  void fill_defaults();

  void add_problem(const Place& place, std::string message);
  void mark_unreliable(const std::string& path) { unreliable_.insert(path); }
  void mark_section_unreliable(std::string_view section);
  void open_section(const std::string& name, const Place& place);
  /// Tells that a section is unknown; returns what was probably meant.
  std::string unknown_section(const std::string& name, const std::string& as_written,
                              const Place& place);

  [[noreturn]] void throw_problems();

  struct GivenValue {
    Value value;
    Place place;
  };

  const Schema* schema_ = &water_schema();
  std::string path_;
  bool read_files_ = false;
  bool has_set_ = false;  ///< whether the command line changes keys
  Deck deck_;
  std::vector<Problem> problems_;
  std::vector<Entry> entries_;  ///< in known sections only
  std::map<std::string, Place, std::less<>> sections_;
  std::map<std::string, GivenValue, std::less<>> values_;
  std::set<std::string, std::less<>> unreliable_;
  std::optional<int> start_molecules_;
  std::vector<KeyProblem> start_problems_;
};

}  // namespace tarn::decks
