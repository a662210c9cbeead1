#pragma once

#include <span>

/// @file
/// The closest two atoms of a cluster, and the atom with the largest force.

namespace tarn {

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
