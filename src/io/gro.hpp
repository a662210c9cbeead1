#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/line_reader.hpp"
#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Reads GRO files, one frame or many: fixed columns, nm and nm/ps, any number of decimals.
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
  /// @return whether it is one: that of a cluster has no size
  bool read_box();

  LineReader lines_;
  std::vector<int> atom_lines_;
};

/// Decimals of all positions of a frame in nm: 7, or as many as fit where an atom lies at -100 nm
/// or beyond, or at 1000 nm or beyond on the other side. Velocities in nm/ps have one more, and may
/// take decimals from the positions as well.
/// @throws NumericalError when a number is not finite; IoError when one does not fit with 1
int gro_decimals(std::span<const double> positions_A,
                 std::span<const double> velocities_A_per_akma);

/// One frame: nm and nm/ps with gro_decimals(), and a box of zeros, which means that there is none.
/// @param velocities_A_per_akma empty, or as long as the positions
/// @param title one line; GROMACS takes time and step from "t=<ps> step=<step>" in it
/// @param sites_per_molecule 3, or 4 with M behind the atoms of each
/// @throws NumericalError, IoError as gro_decimals()
std::string gro_frame(std::span<const double> positions_A,
                      std::span<const double> velocities_A_per_akma, std::string_view title,
                      int sites_per_molecule = 3);

/// A file that holds one structure. @throws NumericalError, IoError
std::string gro_text(const Structure& structure);

bool looks_like_gro(std::string_view beginning);

}  // namespace tarn::io
