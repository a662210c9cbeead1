#pragma once

#include <span>
#include <vector>

namespace tarn::analysis {

/// Sums over spherical shells of equal thickness around the centre of mass of a cluster.
struct RadialSums {
  explicit RadialSums(int bins);

  std::vector<double> mass_Da;    ///< of atoms in each shell
  std::vector<double> oxygens;    ///< in each shell
  std::vector<double> hydrogens;  ///< in each shell
  /// Sum over the oxygens in each shell of the cosine of the angle between the molecular dipole and
  /// the outward radial direction: 1 for hydrogens that point away from the centre.
  std::vector<double> cosines;
};

/// Adds one configuration; atoms at r_max_A and beyond are ignored.
/// @param positions_A [molecule][9], atoms O H H
void add_radial(std::span<const double> positions_A, double mass_o_Da, double mass_h_Da,
                double r_max_A, RadialSums& sums);

/// 4 pi/3 (r_hi^3 - r_lo^3) of each of `bins` shells on [0, r_max) [A^3], equation (38).
std::vector<double> shell_volumes_A3(double r_max_A, int bins);

}  // namespace tarn::analysis
