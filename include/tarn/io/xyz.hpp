#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// Extended XYZ: water molecules with atoms in the order O H H.

namespace tarn::io {

/// One frame of an extended XYZ file.
struct Structure {
  int molecules = 0;
  std::vector<double> positions_A;            ///< [molecule][9]
  std::vector<double> velocities_A_per_akma;  ///< [molecule][9], or empty
  /// The other keys of the comment line: model, step, time_ps, ...
  std::map<std::string, std::string> comment;

  /// The water model that the comment names.
  std::optional<std::string> model() const;
};

/// Reads the frames of an extended XYZ file one after another.
///
/// The Properties key is honoured: columns in any order, columns that are not needed are skipped;
/// without it the columns are species and x y z, and more may follow. Velocities are columns
/// `vel_A_per_akma:R:3` or `velo:R:3` [A/akma].
class XyzReader {
 public:
  /// @throws IoError
  explicit XyzReader(const std::string& path);

  /// The next frame, or nothing at the end of the file.
  /// @throws InputError with file, line and column of everything that is wrong in the frame: a bad
  ///         count, a missing column, something that is not a finite number, atoms not O H H
  std::optional<Structure> next();

  /// Checks that after the last frame there is the end of the file or the count of another frame.
  /// @throws InputError
  void check_next_count();
  /// Line of an atom of the last frame.
  int line_of_atom(int atom) const { return first_atom_line_ + atom; }
  const std::string& path() const { return path_; }

 private:
  bool read_line();
  [[noreturn]] void fail(int column, const std::string& message) const;
  int read_count();
  void skip_blank_lines();

  std::string path_;
  std::ifstream stream_;
  std::string line_;
  int line_number_ = 0;
  int first_atom_line_ = 0;
  bool have_line_ = false;  // line_ is the first line of the next frame
};

/// Reads a structure to start from: the first frame, checked further than a trajectory.
/// @throws IoError; InputError as XyzReader, and for no frame at all, for coincident atoms (closer
///         than 0.1 A), for oxygens closer than 0.5 A and for an O-H distance above 3 A
Structure read_structure(const std::string& path);

/// One frame as text, 17 significant digits.
/// @param velocities_A_per_akma empty, or as long as the positions
/// @param keys what the comment line holds after Properties, as "key=value key=value"
/// @throws NumericalError when a number is not finite
std::string xyz_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view keys);

/// Writes one structure atomically. @throws IoError, NumericalError
void write_structure(const std::string& path, const Structure& structure);

}  // namespace tarn::io
