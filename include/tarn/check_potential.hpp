#pragma once

#include <cstddef>
#include <span>

#include "tarn/core/message.hpp"
#include "tarn/core/units.hpp"
#include "tarn/potential.hpp"

/// @file
/// Comparison of the forces of a potential with differences of its energies.

namespace tarn {

struct PotentialCheckOptions {
  /// Whether the bonds of the potential are used; the stiffness of an O-H bond is then measured.
  bool bonds = true;
  double mass_o_Da = units::mass_oxygen_Da, mass_h_Da = units::mass_hydrogen_Da;
};

/// Result of check_potential(). Differences are central ones, with displacements of 0.005 A.
struct PotentialCheck {
  double energy_kcal_per_mol = 0.0;                ///< of the given positions
  double largest_force_kcal_per_mol_A = 0.0;       ///< component, at the displaced positions
  double largest_difference_kcal_per_mol_A = 0.0;  ///< from the differences of energies
  int coordinates = 0;                             ///< number of compared coordinates
  /// Of the first O-H bond at the given positions, from second differences of the energy; 0 for
  /// rigid bonds, and for energies with a maximum there.
  double oh_wavenumber_per_cm = 0.0;
  std::size_t images = 0;  ///< number of images in the first call
  double seconds = 0.0;    ///< time of the first call
  bool depends_on_batch = false;
  /// Warnings of forces that differ by more than 1 % of the largest one and of bonds unlike those
  /// of water, with a likely cause; a note if the results of an image depend on the batch.
  Messages messages;

  bool forces_agree() const {
    return largest_difference_kcal_per_mol_A <= 0.01 * largest_force_kcal_per_mol_A;
  }
};

/// Calls a potential twice: with the given positions, displaced ones and all images for the
/// differences, and with the first image alone. Atoms are displaced by up to 0.03 A, because forces
/// at a minimum show nothing. All coordinates of up to ten molecules are compared.
/// @param positions_A [molecule][O, H1, H2][3]
/// @throws NumericalError if an energy or force is not finite; what the potential throws
PotentialCheck check_potential(Potential& potential, std::span<const double> positions_A,
                               const PotentialCheckOptions& options = {});

}  // namespace tarn
