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
  Checker(const std::string& path, bool look_at_files);

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
  bool trusted(std::initializer_list<std::string_view> paths) const;
  /// A problem with a key, told at its value or, where it is missing, at its section.
  void problem(std::string_view path, std::string message);

 private:
  void take_out(const std::vector<Override>& removals, Source& source);
  void choose_schema(const Source& source, const std::vector<Entry>& overrides);
  void take_sections(const Source& source);
  void take_overrides(std::vector<Entry> overrides);
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
  void count_steps();
  void fill_defaults();

  void tell(const Place& place, std::string message);
  void distrust(const std::string& path) { distrusted_.insert(path); }
  void distrust_section(std::string_view section);
  void open_section(const std::string& name, const Place& place);
  /// Tells that a section is unknown; returns what was probably meant.
  std::string unknown_section(const std::string& name, const std::string& as_written,
                              const Place& place);

  std::optional<Value> read_value(const Key& key, const Raw& raw);
  std::optional<Value> read_number(const Key& key, const Raw& raw);
  std::optional<Value> read_word(const Key& key, const Raw& raw);
  std::optional<Value> read_words(const Key& key, const Raw& raw);
  std::optional<Value> read_numbers(const Key& key, const Raw& raw);
  void wrong_type(const Key& key, const Raw& raw);
  [[noreturn]] void give_up();

  struct Given {
    Value value;
    Place place;
  };

  const Schema* schema_ = &water_schema();
  std::string path_;
  bool look_at_files_ = false;
  bool has_set_ = false;  ///< whether the command line changes keys
  Deck deck_;
  std::vector<Problem> problems_;
  std::vector<Entry> entries_;  ///< in known sections only
  std::map<std::string, Place, std::less<>> sections_;
  std::map<std::string, Given, std::less<>> values_;
  std::set<std::string, std::less<>> distrusted_;
  std::optional<int> start_molecules_;
  std::vector<KeyProblem> start_problems_;
};

/// The rules of water.
const std::vector<Rule>& rules();

/// Defaults of mechanical decks that depend on other keys.
void fill_mechanics_defaults(Checker& checker);

/// Number of whole steps that cover a time; a whole number within round-off counts as whole.
double steps_in(double time_ps, double timestep_fs);

/// True for penalties that are finite, under which a rigid start is not at rest, unless positions
/// and velocities are given together.
bool default_relax(const Deck& deck);

/// What is wrong with factorising the whole Hessian of that many molecules, if anything.
std::optional<std::string> total_hessian_problem(const IntegratorSection& integrator,
                                                 std::int64_t molecules);

/// What is wrong with remove_momentum for that many molecules, if anything.
std::optional<std::string> lone_molecule_problem(const Deck& deck, std::int64_t molecules);

/// What is wrong with that many molecules in that many replicas, if anything.
std::optional<std::string> size_problem(std::int64_t molecules, std::int64_t replicas);

/// What is wrong with the memory of a spectrum of that many molecules, if the deck has one.
std::optional<std::string> spectrum_problem(const Deck& deck, std::int64_t molecules);

/// Numbers that the time correlation functions of that many molecules remember; 0 without them.
double correlation_numbers(const Deck& deck, std::int64_t molecules);
/// What is wrong with the time correlation functions of that many molecules, if the deck has them.
std::optional<std::string> correlation_problem(const Deck& deck, std::int64_t molecules);

/// What is wrong with the memory of the minima of that many molecules, if the deck has them.
std::optional<std::string> minima_problem(const Deck& deck, std::int64_t molecules);

/// What is wrong with a Lindemann index of that many molecules, if the deck has one.
std::optional<std::string> lindemann_problem(const Deck& deck, std::int64_t molecules);

}  // namespace tarn::decks
