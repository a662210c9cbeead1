#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/core/error.hpp"

/// @file
/// TOML text as a flat list of entries with their places. Knows nothing of the schema; the only
/// part of the reader that sees toml++.

namespace tarn::decks {

/// Line and column count from 1; 0: not known.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

/// A value as it stands in the file.
struct RawValue {
  enum class Kind { boolean, integer, number, string, array, table, other };
  Kind kind = Kind::other;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0.0;
  std::string string;
  std::vector<RawValue> items;
  std::string text;  ///< as messages show it
  Place place;
};

struct Entry {
  std::string section;  ///< dotted; empty for keys above the first section
  std::string name;
  RawValue value;
  Place place;  ///< of the key
};

struct SourceSection {
  std::string path;    ///< dotted; parts that are no bare keys stand in quotes
  std::string parent;  ///< path of the section around it, or empty
  std::string name;    ///< its own part of the path
  Place place;
};

struct Source {
  std::vector<SourceSection> sections;  ///< every table, parents before children
  std::vector<Entry> entries;
};

/// An override of the command line.
struct Override {
  std::string text;   ///< section.key=value
  std::string label;  ///< what messages name in place of a file
  /// How whoever wrote it has to write it.
  std::string wanted = "section.key=value";
};

/// Flattens a TOML text.
/// @throws InputError for a syntax error, with its place
Source read_source(const std::string& text, const std::string& path);

/// Reads one override; a value that is not TOML is a bare string.
/// @param override_ the override
/// @param wants_text tells whether the key at a path takes text: then 7 is the string "7"
/// @throws InputError
Entry read_override(const Override& override_, bool (*wants_text)(std::string_view path));

}  // namespace tarn::decks
