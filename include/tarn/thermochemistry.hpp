#pragma once

#include <array>
#include <span>

#include "tarn/modes.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// Thermodynamic functions of a cluster from its normal modes: a rigid rotor with harmonic
/// vibrations, equation (71). The translation of the cluster is excluded, because it depends on the
/// available volume.

namespace tarn {

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
