#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/core/error.hpp"
#include "tarn/deck.hpp"

/// @file
/// TOML text as a flat list of entries with their places, independent of the schema; paths and
/// addresses in it. The only part of the reader that uses toml++.

namespace tarn::decks {

/// Line and column, counted from 1; 0: unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

/// A value as written in the file.
struct RawValue {
  enum class Kind { boolean, integer, number, string, array, table, other };
  Kind kind = Kind::other;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string string;
  std::vector<RawValue> items;  ///< of a table: `string` is the key of the value
  std::string text;             ///< for messages
  bool is_bare = false;         ///< a string that was written without quotes
  bool is_unreadable = false;   ///< its problem is in Source::problems
  Place place;
};

struct Entry {
  std::string section;  ///< dotted; empty for keys above the first section
  std::string name;
  RawValue value;
  Place place;  ///< of the key

  std::string path() const { return section.empty() ? name : section + '.' + name; }
};

struct SourceSection {
  std::string path;    ///< dotted; parts that are not bare keys are quoted
  std::string parent;  ///< path of the enclosing section, or empty
  std::string name;    ///< last part of the path
  Place place;
};

struct Source {
  std::vector<SourceSection> sections;  ///< every table, parents before children
  std::vector<Entry> entries;
  std::vector<Problem> problems;  ///< of lines that were replaced to read the others
};

/// A change of the deck from the command line.
struct Override {
  std::string text;   ///< section.key=value
  std::string label;  ///< named in messages instead of a file
  /// Expected syntax, for messages.
  std::string wanted = "section.key=value";
};

/// @param option command line option of the changes
inline std::vector<Override> given_by(const std::string& option,
                                      const std::vector<std::string>& texts) {
  std::vector<Override> changes;
  for (const std::string& text : texts) changes.push_back({text, option + " " + text});
  return changes;
}

/// Flattens a TOML text. Values that are not TOML are bare strings or unreadable, so that the rest
/// of the text can be checked too.
/// @throws InputError with all syntax errors found, if the text cannot be read beyond one of them
Source read_source(const std::string& text, const std::string& path);

/// Reads one override; a value that is not TOML is a string. A table, as in observe.final={}, is a
/// section with its keys.
/// @param override_ the override
/// @param wants_text whether the key at a path is a string: 7 is then read as "7"
/// @throws InputError
Source read_override(const Override& override_, bool (*wants_text)(std::string_view path));

/// A path relative to the folder of the deck; absolute paths stay.
std::filesystem::path from_the_deck(const Deck& deck, const std::string& path);

/// For the message on a path that does not exist: the folder that relative paths start from and, if
/// the file is in the current folder, what to write instead. Empty for absolute paths.
std::string missing_path_hint(const Deck& deck, const std::string& path);

/// An address at which a program listens: "unix:NAME", "host:port" or "[IPv6]:port".
struct SocketAddress {
  std::string unix_name;  ///< a name for /tmp/ipi_<name>, or a path; empty: host and port
  std::string host;
  int port = 0;
};

/// @return empty if the text is not an address
std::optional<SocketAddress> socket_address(std::string_view text);

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions
/// and transpositions; case-insensitive.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// A known name and its distance.
struct NameSuggestion {
  std::string name;  ///< empty: no similar name
  std::size_t distance = 0;
};

/// The known name closest to a word. Names with other digits are other things: "rk5", "rk4".
NameSuggestion nearest(std::string_view word, const std::vector<std::string_view>& known);

/// The water model of which a word is a misspelling: most similar names are other models.
NameSuggestion nearest_model(std::string_view word, const std::vector<std::string_view>& known);

/// " (did you mean "name"?)"; empty without a name.
std::string did_you_mean(std::string_view name);

}  // namespace tarn::decks
