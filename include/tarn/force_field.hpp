#pragma once

#include <memory>
#include <span>

#include "tarn/physics/water_model.hpp"
#include "tarn/potential.hpp"

namespace tarn {

/// Energies of one cluster [kcal/mol].
struct ClusterEnergy {
  double coulomb_kcal_per_mol = 0.0;
  double lj_kcal_per_mol = 0.0;
  double intramolecular_kcal_per_mol = 0.0;  ///< of flexible models
  double field_kcal_per_mol = 0.0;           ///< of the dipole moment in a field
  /// Of a Potential, in place of all others; of a many-body model, in place of the first two.
  double potential_kcal_per_mol = 0.0;
  double between_molecules_kcal_per_mol() const {
    return coulomb_kcal_per_mol + lj_kcal_per_mol + potential_kcal_per_mol;
  }
  double total_kcal_per_mol() const {
    return between_molecules_kcal_per_mol() + intramolecular_kcal_per_mol + field_kcal_per_mol;
  }
};

/// Adds the intramolecular forces of a flexible model [kcal/mol/A].
/// @param positions_A, forces_kcal_per_mol_A 9 N numbers each
void add_intramolecular_forces(const WaterModel& model, std::span<const double> positions_A,
                               std::span<double> forces_kcal_per_mol_A);

/// Adds the forces of the field of a pairwise model. @param forces_kcal_per_mol_A may be empty
/// @return the energy in the field [kcal/mol]
double add_field_forces(const WaterModel& model, std::span<const double> positions_A,
                        std::span<double> forces_kcal_per_mol_A);

/// Energy and forces of single configurations in double precision: all pairs, vacuum, no cutoff. An
/// object keeps its work space between calls, and must not be used by several threads at once.
class ForceField {
 public:
  /// @throws InputError if there is no molecule
  ForceField(const WaterModel& model, int molecules);
  /// Energies and forces of a potential, in calls of one image with the id 0. An energy is NaN if
  /// it or a force is not finite. The model contributes its masses and its name.
  /// @param potential null: those of the model
  ForceField(const WaterModel& model, int molecules, std::shared_ptr<Potential> potential);
  ~ForceField();
  ForceField(ForceField&&) noexcept;
  ForceField& operator=(ForceField&&) noexcept;

  int molecules() const;
  const WaterModel& model() const;
  /// Null: energies and forces are those of the model.
  const std::shared_ptr<Potential>& potential() const;
  /// Of the last configuration; empty for pairwise models.
  PotentialDetails details() const;
  /// Whether all atoms move: with a potential, or a flexible model.
  bool is_flexible() const { return potential() != nullptr || model().is_flexible(); }

  /// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers
  /// @throws InputError for a wrong number of coordinates, and what a potential throws, as
  /// energy_and_forces()
  ClusterEnergy energy(std::span<const double> positions_A);
  /// Energy, and the forces on the atoms, minus the gradient of the energy [kcal/mol/A], 9 N
  /// numbers.
  ClusterEnergy energy_and_forces(std::span<const double> positions_A,
                                  std::span<double> forces_kcal_per_mol_A);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarn
