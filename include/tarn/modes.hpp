#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"

/// @file
/// Harmonic normal modes of one cluster in vacuum, from the exact second derivatives of its energy
/// (equations 59 to 61), or from differences of the forces of a potential (equation 90).

namespace tarn {

/// Largest number of coordinates: 500 rigid molecules, or 333 with a penalty.
inline constexpr int kMaxModeCoordinates = 3000;
/// Largest penalty strength [sqrt(kcal/mol)/A^2]; beyond it, rounding errors of the bonds would
/// affect the soft modes.
inline constexpr double kMaxModeOmega = 1e4;
/// Number of translations and rotations of the whole cluster.
inline constexpr int kRigidBodyModes = 6;
/// A structure is stationary if no component of the gradient exceeds this by default [kcal/mol/A].
inline constexpr double kStationaryGradient_kcal_per_mol_A = 1e-4;
/// Displacement of the atoms in differences of forces [A]; in bond coordinates 0.4 times this.
inline constexpr double kModeDisplacement_A = 0.005;

/// A normal mode with the normal coordinate Q [A Da^1/2].
struct NormalMode {
  double wavenumber_per_cm = 0.0;          ///< 0: rigid-body motion; negative: imaginary
  double ir_intensity_D2_per_A2_Da = 0.0;  ///< |d mu/dQ|^2; nan with a potential
  /// Shares of the kinetic energy in translations of the molecules, rotations about their centres
  /// of mass, and vibrations of their bonds; the sum is 1.
  double translation = 0.0, rotation = 0.0, vibration = 0.0;

  /// Integrated absorption intensity.
  double ir_intensity_km_per_mol() const;
};

/// The normal modes of a cluster at one configuration.
struct NormalModes {
  double energy_kcal_per_mol = 0.0;          ///< V0, V0 + V1, or that of a potential
  double max_gradient_kcal_per_mol_A = 0.0;  ///< largest component; torques as forces at 1 A
  /// By increasing wavenumber. The rigid-body modes are three translations, then three rotations
  /// about the axes of inertia.
  std::vector<NormalMode> modes;
  /// dx/dQ of the atoms O, H1, H2 of each molecule [Da^-1/2], [mode][9 N].
  std::vector<double> displacements_per_sqrt_Da;

  /// Set it to the errors of the forces of a potential if those are larger.
  double stationary_gradient_kcal_per_mol_A = kStationaryGradient_kcal_per_mol_A;
  bool is_stationary() const {
    return max_gradient_kcal_per_mol_A <= stationary_gradient_kcal_per_mol_A;
  }
  /// Number of negative wavenumbers.
  int imaginary_count() const;
  /// The lowest wavenumber that is not a rigid-body motion; nan if there is none.
  double lowest_per_cm() const;
  /// Half a quantum per mode with a positive wavenumber.
  double zero_point_energy_kcal_per_mol() const;
};

/// Largest number of molecules for normal_modes().
constexpr int most_mode_molecules(bool rigid) { return kMaxModeCoordinates / (rigid ? 6 : 9); }

/// Checks the arguments of normal_modes().
/// @throws InputError if there are too many molecules, for an invalid penalty strength, or for one
/// with a flexible model
void check_modes(const WaterModel& model, int molecules, double omega);

/// Computes the normal modes at a configuration, which need not be a minimum. The six rigid-body
/// motions are projected out exactly. Away from stationary points, wavenumbers depend on the choice
/// of coordinates: here translations, and rotation vectors about centres of mass, or Cartesian
/// coordinates with a penalty or a flexible model.
///
/// Memory scales with the square of the number of molecules, time with its cube.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers; the geometry of rigid
/// molecules is kept
/// @param omega penalty strength [sqrt(kcal/mol)/A^2]; infinite for rigid molecules and for
/// flexible models, whose energy includes the intramolecular one
/// @throws InputError for a size that is not 9 N, arguments that check_modes() rejects, and
/// molecules that are collinear or not finite
/// @throws NumericalError if second derivatives are not finite
/// @param atom_masses_Da isotopes: masses of O, H1, H2 of each molecule; empty: those of the model
NormalModes normal_modes(const WaterModel& model, std::span<const double> positions_A,
                         double omega = std::numeric_limits<double>::infinity(),
                         const std::vector<std::array<double, 3>>& atom_masses_Da = {});

/// Computes the normal modes of a potential, in which all atoms move, from central differences of
/// its forces (equation 90). Calls compute() once, with 18 N + 1 images: image 0 is the cluster,
/// and each pair of the others is displaced along one of its 9 N coordinates, by `displacement_A`
/// for the atom that moves farthest. The image ids are 0 to 18 N.
///
/// With exact forces, wavenumbers of water clusters have errors of about 0.05 cm^-1, proportional
/// to the square of the displacement. Errors of the forces are divided by the displacement: those
/// of 1e-4 kcal/mol/A, as in single precision, add errors of up to 0.5 cm^-1 to the softest modes.
/// @param model masses; its charges are not those of the potential, and intensities are nan
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers
/// @param displacement_A above 0 and at most 0.1
/// @throws InputError for a size that is not 9 N, too many molecules, molecules that are collinear
/// or not finite, or an invalid displacement
/// @throws NumericalError if an energy or force is not finite; what the potential throws
NormalModes normal_modes(const WaterModel& model, std::span<const double> positions_A,
                         Potential& potential, double displacement_A = kModeDisplacement_A,
                         const std::vector<std::array<double, 3>>& atom_masses_Da = {});

/// Whether the energy of rigid molecules, or of a flexible model, decreases along some direction
/// other than the rigid-body motions, so that a stationary point is a saddle point. Uses a
/// factorisation, which costs less than a tenth of normal_modes().
/// @param positions_A as above, at a stationary point
/// @param curvature_kcal_per_mol_A2_Da positive threshold: an eigenvalue of K (equation 59) counts
/// as negative if it is below minus this
/// @throws as normal_modes()
bool has_negative_curvature(const WaterModel& model, std::span<const double> positions_A,
                            double curvature_kcal_per_mol_A2_Da);

/// A cluster as a rigid body. Axes a, b and c are the axes of inertia, by increasing moment.
struct RigidRotor {
  std::array<double, 3> constants_MHz{};  ///< A >= B >= C, as in microwave spectroscopy
  std::array<double, 3> dipole_D{};  ///< absolute components along a, b, c, of the model's charges
};
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers; not collinear
/// @param atom_masses_Da see normal_modes()
RigidRotor rigid_rotor(const WaterModel& model, std::span<const double> positions_A,
                       const std::vector<std::array<double, 3>>& atom_masses_Da = {});

/// Quantum harmonic oscillators with zero-point energy, or classical ones with energy kT each, as
/// in simulations.
enum class Statistics { quantum, classical };

/// Thermodynamic functions of a cluster at one minimum. Energies include that of the minimum.
struct HarmonicState {
  double energy_kcal_per_mol = 0.0;
  double free_energy_kcal_per_mol = 0.0;
  double entropy_cal_per_mol_K = 0.0;
  double heat_capacity_cal_per_mol_K = 0.0;
};
/// @param modes of a minimum
/// @param symmetry_number number of rotations that map the cluster onto itself,
/// PointGroup::rotations
/// @param temperature_K above 0. The rotation is classical, which is valid if kT is much larger
/// than the rotational quanta, about 0.1 K for a cluster
/// @throws InputError if the temperature is not above 0 or the modes are not those of a minimum
HarmonicState harmonic_state(const NormalModes& modes, const RigidRotor& rotor, int symmetry_number,
                             double temperature_K, Statistics statistics);

}  // namespace tarn
