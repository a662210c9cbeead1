#pragma once

#include <span>
#include <string>
#include <string_view>

/// @file
/// Normal modes in the Molden format, for molecular viewers.

namespace tarn::io {

/// A normal mode of a cluster.
struct MoldenMode {
  double wavenumber_per_cm = 0.0;         ///< negative: imaginary
  double ir_intensity_km_per_mol = 0.0;   ///< nan: not known
  std::span<const double> displacements;  ///< of the atoms O, H1, H2 of each molecule, 9 N
};

/// Writes the atoms in bohr, and the modes in the given order. Displacements are not converted,
/// because viewers scale them. The file has no intensities if none is known.
///
/// Numbers are in fixed notation, because not all readers accept exponents: six decimals for
/// wavenumbers and intensities, nine for all others. The modes are written one by one.
/// @param title one line
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N
/// @throws NumericalError for a number that is not finite, IoError
/// @throws std::logic_error for a mode with a different number of atoms, or a title of several
/// lines
void write_molden(const std::string& path, std::string_view title,
                  std::span<const double> positions_A, std::span<const MoldenMode> modes);

}  // namespace tarn::io
