#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::io {

/// A key and its value on the comment line of an extended XYZ frame.
struct CommentEntry {
  std::string key;
  std::string value;     ///< "T" for a key without a value, as the format defines
  int value_column = 1;  ///< counts from 1
};

/// Splits the comment line: key=value, key="value with spaces", or a lone key. Never fails: the
/// comment of a plain XYZ file is free text.
std::vector<CommentEntry> parse_comment(std::string_view line);

/// Inverse of parse_comment(): "key=value key=value", with quotes around values with blanks.
std::string comment_line(const std::map<std::string, std::string>& comment);

/// Key of frames for the name of the potential that computed the forces, and a blank; empty for the
/// water model.
std::string potential_key(const std::string& potential);
/// Between the names of the water model and of the potential in provenance lines.
inline constexpr std::string_view kWithForces = " with forces by ";

/// The unit of lengths that i-PI names in a comment, "positions{atomic_unit}", in angstrom; 1 if it
/// names none. Removes such keys, because they do not hold for the positions that are returned.
/// @param problem receives an unknown unit, or a quantity other than positions, or stays empty
double take_unit_A(std::map<std::string, std::string>& comment, std::string& problem);

/// Indices of the required columns; -1: none.
struct XyzColumns {
  int species = 0;
  int position = 1;
  int velocity = -1;
  int count = 4;       ///< columns of an atom line
  bool exact = false;  ///< whether more columns are an error
};

/// Reads the value of a Properties key, name:type:count triples separated by colons.
/// @param problem receives the problem, or stays empty
XyzColumns parse_properties(std::string_view value, std::string& problem);

}  // namespace tarn::io
