#pragma once

#include <array>
#include <span>

/// @file
/// What is measured of one replica at one step: plain numbers, the same for every engine.

namespace tarn {

/// Energies of one replica at one step.
struct Energies {
  double potential_kcal_per_mol = 0.0;  ///< non-bonded V0, at the reported positions
  /// Within molecules: the penalty, y.y / (2 omega^2) for Z&Ss; the intramolecular energy of
  /// flexible models; 0 for rigid schemes.
  double bond_kcal_per_mol = 0.0;
  double wall_kcal_per_mol = 0.0;   ///< of the confinement, at the reported positions
  double field_kcal_per_mol = 0.0;  ///< of the dipole moment in the field
  double bias_kcal_per_mol = 0.0;   ///< of all biases; of ring polymers at the centroids
  double bias_coordinate = 0.0;     ///< of the first bias, equation (97)
  double kinetic_kcal_per_mol = 0.0;
  double total_kcal_per_mol = 0.0;  ///< what the scheme conserves: E_N for Z&Ss
  /// Kinetic, of the velocities right after the noise; 6N degrees of freedom if rigid, 9N if not.
  double temperature_K = 0.0;
  /// The same by class of degrees of freedom, 3N each: translation and rotation of the molecules,
  /// and bond vibration (0 if rigid).
  double temperature_translation_K = 0.0;
  double temperature_rotation_K = 0.0;
  double temperature_bond_K = 0.0;
  /// Potential, bond, kinetic and wall energy: H of equation (33).
  double physical_kcal_per_mol = 0.0;

  constexpr double all_potential_kcal_per_mol() const {
    return potential_kcal_per_mol + bond_kcal_per_mol + wall_kcal_per_mol + field_kcal_per_mol +
           bias_kcal_per_mol;
  }
};

/// Estimators of one ring polymer at one step, equation (83); those of classical nuclei for one
/// bead.
struct RingMeasures {
  double primitive_kcal_per_mol = 0.0;  ///< total energy, primitive estimator
  double virial_kcal_per_mol = 0.0;     ///< total energy, centroid-virial estimator
  double kinetic_o_kcal_per_mol = 0.0;  ///< per oxygen, centroid virial
  double kinetic_h_kcal_per_mol = 0.0;  ///< per hydrogen; with isotopes, per protium
  double potential_kcal_per_mol = 0.0;  ///< between molecules, mean over the beads
  double intramolecular_kcal_per_mol = 0.0;
  double spring_kcal_per_mol = 0.0;  ///< of the ring polymer's Hamiltonian
  double gyration2_o_A2 = 0.0;       ///< squared radius of gyration of an oxygen's ring
  double gyration2_h_A2 = 0.0;
  double centroid_K = 0.0;              ///< kinetic temperature of the centroids
  double internal_K = 0.0;              ///< of the other modes; 0 for one bead
  double kinetic_d_kcal_per_mol = 0.0;  ///< with isotopes: per deuterium, and per tritium
  double kinetic_t_kcal_per_mol = 0.0;
};

/// Conserved quantities of one replica at one step. Momenta are those of the scheme's own x and v;
/// the energy is the total one of Energies, and constraints are those of the reported positions.
struct Conservation {
  double energy_kcal_per_mol = 0.0;
  std::array<double, 3> momentum_Da_A_per_akma{};
  std::array<double, 3> angular_momentum_Da_A2_per_akma{};  ///< about the origin
  double constraint_max_A2 = 0.0;                           ///< largest |d.d - r0^2|; 0 if flexible
};

/// Shape, bonding and dipole moments of one cluster, equations (28) and (39).
struct ClusterMeasures {
  /// Root mean square distance of the molecules' oxygens from their centre [A].
  double radius_of_gyration_A = 0.0;
  /// Number of hydrogen bonds; a pair of molecules counts once for each hydrogen that bonds them.
  double hydrogen_bonds = 0.0;
  /// The largest of the distances from each oxygen to its nearest other one [A]; 0 for a single
  /// molecule.
  double farthest_neighbour_A = 0.0;
  double dipole_D = 0.0;           ///< length of the cluster's dipole moment [debye]
  double molecule_dipole_D = 0.0;  ///< mean length of the moment of a molecule [debye]
  double farthest_oxygen_A = 0.0;  ///< largest distance of an oxygen from the centre of mass [A]
  double dipole_x_D = 0.0, dipole_y_D = 0.0, dipole_z_D = 0.0;  ///< of the cluster [debye]
};

/// Shape of the molecules of one cluster at one step: means over the molecules, and the shortest
/// and longest O-H distance.
struct MoleculeGeometry {
  double oh_A = 0.0;
  double hh_A = 0.0;
  double angle_degrees = 0.0;  ///< H-O-H
  double oh_shortest_A = 0.0;
  double oh_longest_A = 0.0;
};
struct Geometry {
  MoleculeGeometry reported;  ///< at the reported positions
  MoleculeGeometry own;       ///< at the scheme's own positions
};

/// Whether a cluster is in parts: oxygens nearer than a link length to one another belong to one
/// part.
struct ClusterParts {
  int molecules_gone = 0;  ///< molecules outside the largest part; 0: the cluster is whole
  int first_gone = -1;     ///< the first of them, from 0; -1: none
  /// Kinetic energy of the motion of those molecules, taken together, against the others
  /// [kcal/mol]; 0 if the cluster is whole.
  double relative_kinetic_kcal_per_mol = 0.0;
};

/// An atom of a cluster; `molecule` is -1 if there is none.
struct AtomId {
  int molecule = -1;
  int atom = 0;  ///< 0 O, 1 H1, 2 H2

  bool operator==(const AtomId&) const = default;
};

/// "O", "H1" or "H2".
constexpr const char* atom_name(AtomId id) {
  constexpr const char* names[] = {"O", "H1", "H2"};
  return names[id.atom];
}

struct ClosestAtoms {
  AtomId a, b;
  double distance_A = 0.0;

  bool operator==(const ClosestAtoms&) const = default;
};

struct LargestForce {
  AtomId at;
  double force_kcal_per_mol_A = 0.0;  ///< infinite if it is NaN

  bool operator==(const LargestForce&) const = default;
};

/// The closest atoms of different molecules, or of the same molecule if there is only one. Among
/// equal distances the first pair is returned. Distances of NaN are ignored.
/// @param positions_A atoms O, H1, H2 of each molecule, 9 N numbers
ClosestAtoms closest_atoms(std::span<const double> positions_A);

/// The first atom with the largest force; a force that is not finite counts as the largest.
/// @param forces_kcal_per_mol_A 9 N numbers in the same order
LargestForce largest_force(std::span<const double> forces_kcal_per_mol_A);

}  // namespace tarn
