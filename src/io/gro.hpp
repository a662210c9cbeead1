#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/line_reader.hpp"
#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Reads GRO files with any number of frames: fixed columns in nm and nm/ps, any number of
/// decimals.
class GroReader final : public FrameReader {
 public:
  /// @throws IoError
  explicit GroReader(const std::string& path) : lines_(path) {}

  std::optional<Structure> next() override;
  int line_of_atom(int atom) const override { return atom_lines_[static_cast<std::size_t>(atom)]; }
  bool is_cut_off() const override { return lines_.at_end(); }
  const std::string& path() const override { return lines_.path(); }

 private:
  int read_count();
  /// @return whether the box has a size; that of a cluster has none
  bool read_box();

  LineReader lines_;
  std::vector<int> atom_lines_;
};

/// Decimals of the positions of a frame in nm: 7, or fewer if atoms are at -100 nm or below, or at
/// 1000 nm or above. Velocities in nm/ps have one more, and large velocities also reduce the
/// decimals of the positions.
/// @throws NumericalError for a number that is not finite; IoError if a number does not fit with
/// one decimal
int gro_decimals(std::span<const double> positions_A,
                 std::span<const double> velocities_A_per_akma);

/// Text of one frame: nm and nm/ps with gro_decimals(), and a box of zeros, which means no box.
/// @param velocities_A_per_akma empty, or as long as the positions
/// @param title one line; GROMACS reads time and step from "t=<ps> step=<step>" in it
/// @param sites_per_molecule 3, or 4 with M after the atoms of each molecule
/// @throws NumericalError, IoError as gro_decimals()
std::string gro_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view title,
                      int sites_per_molecule = 3);

/// Text of a file with one structure. @throws NumericalError, IoError
std::string gro_text(const Structure& structure);

bool looks_like_gro(std::string_view beginning);

}  // namespace tarn::io
