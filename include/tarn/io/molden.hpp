#pragma once

#include <span>
#include <string>
#include <string_view>

/// @file
/// Normal modes in the Molden format, which viewers of molecules read.

namespace tarn::io {

/// One mode of a cluster.
struct MoldenMode {
  double wavenumber_per_cm = 0.0;  ///< negative: imaginary
  double ir_intensity_km_per_mol = 0.0;
  std::span<const double> displacements;  ///< of the atoms O, H1, H2 of each molecule, 9 N
};

/// Writes atoms in bohr and modes in their order; the displacements as they are, of any unit: what
/// reads them scales them.
///
/// Fixed notation, since not all readers know exponents: nine decimals, of wavenumbers and
/// intensities six. It goes to the disk mode by mode.
/// @param title one line
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N
/// @throws NumericalError for a number that is not finite, IoError
/// @throws std::logic_error for a mode of another number of atoms, or a title of several lines
void write_molden(const std::string& path, std::string_view title,
                  std::span<const double> positions_A, std::span<const MoldenMode> modes);

}  // namespace tarn::io
