#pragma once

#include <array>
#include <span>

#include "tarn/modes.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// What the modes of a minimum tell of a cluster at a temperature: it turns as a rigid rotor and
/// vibrates in its harmonic modes, equation (71). Its motion through space is left out, which
/// depends on the room that it has.

namespace tarn {

/// A cluster as a rigid body. Axes a, b and c are those of inertia, of the least moment first.
struct RigidRotor {
  std::array<double, 3> constants_MHz{};  ///< A >= B >= C, as of microwave spectra
  std::array<double, 3> dipole_D{};       ///< of the model's charges, by size along a, b, c
};
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers; not all on a line
RigidRotor rigid_rotor(const WaterModel& model, std::span<const double> positions_A);

/// Whether modes hold quanta, with that of the zero point, or kT each, as in simulations.
enum class Statistics { quantum, classical };

/// A cluster about one minimum. Energies are those of the model, the minimum's among them.
struct HarmonicState {
  double energy_kcal_per_mol = 0.0;
  double free_energy_kcal_per_mol = 0.0;
  double entropy_cal_per_mol_K = 0.0;
  double heat_capacity_cal_per_mol_K = 0.0;
};
/// @param modes of a minimum
/// @param rotations that map the cluster onto itself, PointGroup::rotations: the symmetry number
/// @param temperature_K above 0; rotation is that of a classical rotor, which holds where kT is
/// large beside its quanta, some 0.1 K for a cluster
/// @throws InputError for a temperature that is not, or modes of no minimum
HarmonicState harmonic_state(const NormalModes& modes, const RigidRotor& rotor, int rotations,
                             double temperature_K, Statistics statistics);

}  // namespace tarn
