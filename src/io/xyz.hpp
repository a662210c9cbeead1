#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "words.hpp"

/// @file
/// Extended XYZ files of water molecules, written with atoms in the order O H H.

namespace tarn::io {

/// Reads the frames of an extended XYZ file one by one.
///
/// The Properties key gives the columns, in any order; unknown columns are skipped. Without the key
/// the columns are species and x y z, and more may follow. A species is an atom name (OW, OH2, HW1,
/// O4, ...) or an atomic number; virtual sites (M, EPW, Du, ...) are left out. Atoms that are not
/// in the order O H H are grouped by distance, with a note. Velocities are columns
/// `vel_A_per_akma:R:3`.
class XyzReader final : public TextFrameReader {
 public:
  using TextFrameReader::TextFrameReader;

  std::optional<Structure> next() override;
  /// The last frame must be followed by the end of the file or by the count of another frame.
  void check_rest() override;

 private:
  int read_count();

  bool have_line_ = false;  // the current line is the first one of the next frame
};

/// One frame as text, with 17 significant digits.
/// @param velocities_A_per_akma empty, or as long as the positions
/// @param keys of the comment line after Properties, as "key=value key=value"
/// @param sites_per_molecule 3, or 4 with M, as species X, behind the atoms of each molecule
/// @throws NumericalError when a number is not finite
std::string xyz_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view keys,
                      int sites_per_molecule = 3);

/// Text of a file with one structure. @throws NumericalError
std::string xyz_text(const Structure& structure);

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

/// Keys of frames for the isotopes and for the name of the potential that computed the forces, and
/// a blank; empty for the water model without isotopes.
/// @param isotopes isotope_names()
std::string system_keys(const std::string& potential, const std::string& isotopes);
/// Between the names of the water model and of the potential in provenance lines.
inline constexpr std::string_view kWithForces = " with forces by ";

/// The unit of lengths that i-PI names in a comment, "positions{atomic_unit}", in angstrom; 1 if it
/// names none. Removes such keys, because they do not hold for the positions that are returned.
/// @param problem receives an unknown unit, or a quantity other than positions, or stays empty
double take_unit_A(std::map<std::string, std::string>& comment, std::string& problem);

}  // namespace tarn::io
