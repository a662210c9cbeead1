#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/line_reader.hpp"
#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Reads PDB files, one model or many. Atoms are ATOM and HETATM records, by their columns; serial
/// and residue numbers may be anything; END, ENDMDL and MODEL end a frame; other records are left
/// out, and of the box of CRYST1 is noted only that it is there.
class PdbReader final : public FrameReader {
 public:
  /// @throws IoError
  explicit PdbReader(const std::string& path) : lines_(path) {}

  std::optional<Structure> next() override;
  int line_of_atom(int atom) const override { return atom_lines_[static_cast<std::size_t>(atom)]; }
  bool is_cut_off() const override { return lines_.at_end(); }
  const std::string& path() const override { return lines_.path(); }

 private:
  LineReader lines_;
  std::vector<int> atom_lines_;
  int frames_ = 0;
  bool has_box_ = false;
  bool has_ends_ = false;  // of the models
};

/// The fewest decimals of any coordinate of a frame: 3, or as many as fit.
/// @throws NumericalError when a number is not finite; IoError when one does not fit without any
int pdb_decimals(std::span<const double> positions_A);

/// One model with its title before it: 0.001 A, the columns of the format. A coordinate beyond
/// them keeps its columns and loses decimals.
/// @param sites_per_molecule 3, or 4 with M behind the atoms of each
/// @throws NumericalError, IoError as pdb_decimals()
std::string pdb_frame(std::span<const double> positions_A, std::int64_t model,
                      std::string_view title, int sites_per_molecule = 3);

/// A file that holds one structure, with the bonds as CONECT records where the serial numbers
/// suffice. Velocities have no place in it. @throws NumericalError, IoError
std::string pdb_text(const Structure& structure);
/// The same of positions. @param sites_per_molecule as of pdb_frame()
std::string pdb_text(std::span<const double> positions_A, std::string_view title,
                     int sites_per_molecule);

bool looks_like_pdb(std::string_view beginning);

}  // namespace tarn::io
