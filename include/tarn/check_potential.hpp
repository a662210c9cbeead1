#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tarn/core/message.hpp"
#include "tarn/core/units.hpp"
#include "tarn/potential.hpp"

/// @file
/// Comparison of the forces of a potential with differences of its energies.

namespace tarn {

struct PotentialCheckOptions {
  /// Whether the bonds of the potential are used; the stiffness of O-H bonds is then measured.
  bool bonds = true;
  double mass_o_Da = units::mass_oxygen_Da, mass_h_Da = units::mass_hydrogen_Da;
  std::function<double()> clock_s{};  ///< empty: the time of the system
};

/// Result of check_potential(). Differences are central ones, with displacements of 0.005 A.
struct PotentialCheck {
  double energy_kcal_per_mol = 0.0;                ///< of the given positions
  double largest_force_kcal_per_mol_A = 0.0;       ///< component, at the displaced positions
  double largest_difference_kcal_per_mol_A = 0.0;  ///< from the differences of energies
  int coordinates = 0;                             ///< number of compared coordinates
  /// Highest of the O-H stretches at the given positions, from second differences of the energy
  /// along each bond and along the antisymmetric stretch of each compared molecule; 0 for rigid
  /// bonds, and for energies with a maximum there.
  double oh_wavenumber_per_cm = 0.0;
  std::size_t images = 0;      ///< number of images in the large call
  double seconds = 0.0;        ///< time of the large call
  double alone_seconds = 0.0;  ///< time of a call with one image
  bool depends_on_batch = false;
  /// Warnings of forces that differ by more than 1 % of the largest one and of bonds unlike those
  /// of water, with a likely cause; a note if the results of an image depend on the batch.
  Messages messages;

  /// Time of a call with this number of images: linear through the two measured ones.
  double seconds_of(std::int64_t count) const {
    const double each = std::max(0.0, seconds - alone_seconds) / static_cast<double>(images - 1);
    return alone_seconds + each * static_cast<double>(count - 1);
  }
  bool forces_agree() const {
    return largest_difference_kcal_per_mol_A <= 0.01 * largest_force_kcal_per_mol_A;
  }
};

/// Calls a potential three times: with the given positions, displaced ones and all images for the
/// differences, and before and after that with the first image alone. Atoms are displaced by up to
/// 0.03 A, because forces at a minimum show nothing. All coordinates of up to ten molecules are
/// compared.
/// @param positions_A [molecule][O, H1, H2][3]
/// @throws NumericalError if an energy or force is not finite; what the potential throws
PotentialCheck check_potential(Potential& potential, std::span<const double> positions_A,
                               const PotentialCheckOptions& options = {});

}  // namespace tarn
