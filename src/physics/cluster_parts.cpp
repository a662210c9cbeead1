#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "bias.hpp"
#include "cluster_shape.hpp"
#include "tarn/physics/measured.hpp"
#include "tarn/physics/triple.hpp"

namespace tarn {
namespace {

/// Kinetic energy of the motion of some molecules, taken together, against the others [kcal/mol].
double relative_kinetic_energy(std::span<const double> velocities_A_per_akma,
                               const std::vector<int>& some, const ClusterMasses& masses) {
  const std::size_t molecules = velocities_A_per_akma.size() / 9;
  double momentum[2][3] = {};  // of the others, of some
  for (std::size_t m = 0; m < molecules; ++m) {
    const bool one = std::binary_search(some.begin(), some.end(), static_cast<int>(m));
    for (std::size_t c = 0; c < 9; ++c) {
      momentum[one][c % 3] += masses.atom_Da(m, c / 3) * velocities_A_per_akma[9 * m + c];
    }
  }
  double gone_Da = static_cast<double>(some.size()) * masses.molecule_Da(0);
  if (!masses.isotopes.empty()) {
    gone_Da = 0.0;
    for (const int m : some) gone_Da += masses.molecule_Da(static_cast<std::size_t>(m));
  }
  const double rest_Da = masses.cluster_Da(molecules) - gone_Da;
  double speed2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double v = momentum[1][k] / gone_Da - momentum[0][k] / rest_Da;
    speed2 += v * v;
  }
  return 0.5 * (gone_Da * rest_Da / (gone_Da + rest_Da)) * speed2;
}

}  // namespace

Vec3<double> centre_of_mass(std::span<const double> positions_A, const ClusterMasses& masses) {
  const std::size_t n = positions_A.size() / 9;
  Vec3<double> moment{0, 0, 0};
  for (std::size_t k = 0; k < n; ++k) {
    moment = moment + masses.of(k, [&](const auto& m) {
      return mass_moment(molecule_at(positions_A.data(), k), m);
    });
  }
  return 1.0 / masses.cluster_Da(n) * moment;
}

std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A) {
  const std::size_t n = positions_A.size() / 9;
  const auto is_near = [&](std::size_t a, std::size_t b) {
    double square = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double d = positions_A[9 * b + k] - positions_A[9 * a + k];
      square += d * d;
    }
    return square < link_A * link_A;
  };
  // As a rule all are near the first one.
  std::size_t near = 0;
  while (near < n && (near == 0 || is_near(0, near))) ++near;
  if (near == n) return {};
  std::vector<std::size_t> members, largest;
  std::vector<char> taken(n, 0);
  for (std::size_t first = 0; first < n; ++first) {
    if (taken[first]) continue;
    taken[first] = 1;
    members.assign(1, first);
    for (std::size_t k = 0; k < members.size(); ++k) {
      for (std::size_t m = first + 1; m < n; ++m) {
        if (taken[m] || !is_near(members[k], m)) continue;
        taken[m] = 1;
        members.push_back(m);
      }
    }
    if (members.size() > largest.size()) largest = members;
    if (largest.size() == n) return {};
  }
  std::fill(taken.begin(), taken.end(), 0);
  for (const std::size_t m : largest) taken[m] = 1;
  std::vector<int> departed;
  for (std::size_t m = 0; m < n; ++m) {
    if (!taken[m]) departed.push_back(static_cast<int>(m));
  }
  return departed;
}

ClusterParts cluster_parts(std::span<const double> positions_A,
                           std::span<const double> velocities_A_per_akma,
                           const ClusterMasses& masses, double link_A) {
  const std::vector<int> gone = evaporated_molecules(positions_A, link_A);
  if (gone.empty()) return {};
  return {static_cast<int>(gone.size()), gone.front(),
          relative_kinetic_energy(velocities_A_per_akma, gone, masses)};
}

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
