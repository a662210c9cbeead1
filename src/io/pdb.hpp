#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/io/line_reader.hpp"
#include "tarn/io/structure.hpp"

namespace tarn::io {

/// Reads PDB files with any number of models. Atoms are the ATOM and HETATM records, by column;
/// serial and residue numbers are arbitrary. END, ENDMDL and MODEL end a frame. Other records are
/// ignored; of CRYST1 only the presence of a box is recorded.
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
  bool has_ends_ = false;  // models have end records
};

/// Smallest number of decimals of the coordinates of a frame: 3, or as many as fit.
/// @throws NumericalError for a number that is not finite; IoError if a number does not fit without
/// decimals
int pdb_decimals(std::span<const double> positions_A);

/// Text of one model, after its title, with 0.001 A in the columns of the format. Coordinates too
/// large for the columns lose decimals.
/// @param sites_per_molecule 3, or 4 with M after the atoms of each molecule
/// @throws NumericalError, IoError as pdb_decimals()
std::string pdb_frame(std::span<const double> positions_A, std::int64_t model,
                      std::string_view title, int sites_per_molecule = 3);

/// Text of a file with one structure, without velocities. Bonds are CONECT records, unless there
/// are too many atoms for the serial numbers. @throws NumericalError, IoError
std::string pdb_text(const Structure& structure);
/// The same for positions. @param sites_per_molecule as for pdb_frame()
std::string pdb_text(std::span<const double> positions_A, std::string_view title,
                     int sites_per_molecule);

bool looks_like_pdb(std::string_view beginning);

}  // namespace tarn::io
