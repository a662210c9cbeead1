#pragma once

#include <limits>
#include <span>
#include <vector>

#include "tarn/physics/water_model.hpp"

/// @file
/// Harmonic normal modes of one cluster in vacuum, from the exact second derivatives of its energy
/// (equations 59 to 61).

namespace tarn {

/// Most coordinates of a cluster: 500 rigid molecules, or 333 with a penalty.
inline constexpr int kMostModeCoordinates = 3000;
/// The strongest penalty, beyond which rounding of the bonds would be seen in the soft modes
/// [sqrt(kcal/mol)/A^2].
inline constexpr double kStrongestModePenalty = 1e4;
/// Modes of a cluster that moves and turns as a whole.
inline constexpr int kWholeModes = 6;
/// Where no component of the gradient is larger the cluster counts as stationary [kcal/mol/A].
inline constexpr double kStationaryGradient_kcal_per_mol_A = 1e-4;

/// One mode; Q is its normal coordinate [A Da^1/2].
struct NormalMode {
  double wavenumber_per_cm = 0.0;          ///< 0: the cluster as a whole; negative: imaginary
  double ir_intensity_D2_per_A2_Da = 0.0;  ///< |d mu/dQ|^2
  /// Shares of the kinetic energy that molecules have by moving, by turning about their centres of
  /// mass, and by the vibration of their bonds; their sum is 1.
  double translation = 0.0, rotation = 0.0, vibration = 0.0;

  /// Integrated absorption.
  double ir_intensity_km_per_mol() const;
};

/// The modes of a cluster at one configuration.
struct NormalModes {
  double energy_kcal_per_mol = 0.0;          ///< V0, or V0 + V1
  double max_gradient_kcal_per_mol_A = 0.0;  ///< largest component; torques as forces at 1 A
  /// Wavenumbers rise; those of the cluster as a whole are three translations, then three rotations
  /// about its axes of inertia.
  std::vector<NormalMode> modes;
  /// dx/dQ of the atoms O, H1, H2 of each molecule [Da^-1/2], [mode][9 N].
  std::vector<double> displacements_per_sqrt_Da;

  bool is_stationary() const {
    return max_gradient_kcal_per_mol_A <= kStationaryGradient_kcal_per_mol_A;
  }
  /// How many wavenumbers are negative.
  int imaginary() const;
  /// The lowest that is not of the cluster as a whole; nan where there is none.
  double lowest_per_cm() const;
  /// Half a quantum of each mode with a positive wavenumber.
  double zero_point_energy_kcal_per_mol() const;
};

/// What normal_modes() would refuse of a number of molecules and a penalty.
/// @throws InputError
void check_modes(int molecules, double omega);

/// The modes at a configuration, which need not be a minimum. There the six motions of the cluster
/// as a whole cost nothing; they are taken out exactly, there and elsewhere. Away from stationary
/// points wavenumbers depend on the coordinates: here translations, and rotation vectors about
/// centres of mass, or Cartesian ones with a penalty.
///
/// Memory goes with the square of the number of molecules, time with its cube.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers; rigid molecules keep the shape
/// that they have
/// @param omega penalty strength [sqrt(kcal/mol)/A^2]; infinite: rigid molecules
/// @throws InputError for a size that is not 9 N, what check_modes() refuses, or a molecule that is
/// collinear or not finite
/// @throws NumericalError where second derivatives are not finite
NormalModes normal_modes(const WaterModel& model, std::span<const double> positions_A,
                         double omega = std::numeric_limits<double>::infinity());

/// Whether the energy of rigid molecules falls along some motion of the cluster, beside those of it
/// as a whole: whether a stationary point is a saddle point. A factorisation, which costs less than
/// a tenth of normal_modes().
/// @param positions_A as above, at a stationary point
/// @param curvature_kcal_per_mol_A2_Da what counts as falling: an eigenvalue of K (equation 59)
/// below minus this, which is positive
/// @throws as normal_modes()
bool curves_down(const WaterModel& model, std::span<const double> positions_A,
                 double curvature_kcal_per_mol_A2_Da);

}  // namespace tarn
