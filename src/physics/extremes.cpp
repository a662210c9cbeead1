#include "tarn/physics/extremes.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace tarn {
namespace {

AtomId atom_id(std::size_t atom) {
  return {static_cast<int>(atom / 3), static_cast<int>(atom % 3)};
}

}  // namespace

ClosestAtoms closest_atoms(std::span<const double> positions_A) {
  const std::size_t atoms = positions_A.size() / 3;
  ClosestAtoms closest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < atoms; ++i) {
    for (std::size_t j = atoms == 3 ? i + 1 : (i / 3 + 1) * 3; j < atoms; ++j) {
      const double dx = positions_A[3 * i] - positions_A[3 * j];
      const double dy = positions_A[3 * i + 1] - positions_A[3 * j + 1];
      const double dz = positions_A[3 * i + 2] - positions_A[3 * j + 2];
      const double square = dx * dx + dy * dy + dz * dz;
      if (!(square < least)) continue;
      least = square;
      closest = {atom_id(i), atom_id(j), std::sqrt(square)};
    }
  }
  return closest;
}

LargestForce largest_force(std::span<const double> forces_kcal_per_mol_A) {
  LargestForce largest;
  for (std::size_t i = 0; i < forces_kcal_per_mol_A.size() / 3; ++i) {
    double force = std::hypot(forces_kcal_per_mol_A[3 * i], forces_kcal_per_mol_A[3 * i + 1],
                              forces_kcal_per_mol_A[3 * i + 2]);
    if (!std::isfinite(force)) force = std::numeric_limits<double>::infinity();
    if (largest.at.molecule >= 0 && !(force > largest.force_kcal_per_mol_A)) continue;
    largest = {atom_id(i), force};
  }
  return largest;
}

}  // namespace tarn
