#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/line_reader.hpp"
#include "tarn/io/structure.hpp"

/// @file
/// Extended XYZ of water molecules, written with atoms in the order O H H.

namespace tarn::io {

/// Reads the frames of an extended XYZ file one after another.
///
/// The Properties key is honoured: columns in any order, columns that are not needed are skipped;
/// without it the columns are species and x y z, and more may follow. Names of atoms as programs
/// write them (OW, OH2, HW1, ...) and atomic numbers do as species; sites (M, EPW, Du, ...) are
/// left out. Atoms that do not stand in the order O H H are grouped by their distances, with a
/// note. Velocities are columns `vel_A_per_akma:R:3`.
class XyzReader final : public FrameReader {
 public:
  /// @throws IoError
  explicit XyzReader(const std::string& path);

  std::optional<Structure> next() override;
  int line_of_atom(int atom) const override { return atom_lines_[static_cast<std::size_t>(atom)]; }
  /// After the last frame there is the end of the file or the count of another frame.
  void check_rest() override;
  bool is_cut_off() const override { return lines_.at_end(); }
  const std::string& path() const override { return lines_.path(); }

 private:
  int read_count();

  LineReader lines_;
  std::vector<int> atom_lines_;
  bool have_line_ = false;  // the current line is the first one of the next frame
};

/// One frame as text, 17 significant digits.
/// @param velocities_A_per_akma empty, or as long as the positions
/// @param keys what the comment line holds after Properties, as "key=value key=value"
/// @param sites_per_molecule 3, or 4 with M, as species X, behind the atoms of each
/// @throws NumericalError when a number is not finite
std::string xyz_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view keys,
                      int sites_per_molecule = 3);

/// A file that holds one structure. @throws NumericalError
std::string xyz_text(const Structure& structure);

}  // namespace tarn::io
