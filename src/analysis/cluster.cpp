#include "tarn/analysis/cluster.hpp"

#include <cmath>
#include <cstddef>

#include "core/vector_clones.hpp"
#include "physics/bias.hpp"
#include "physics/cluster_shape.hpp"

namespace tarn::analysis {
namespace {

/// Squares of the distances of all oxygens from a point. @param oxygens [component][molecule]
TARN_VECTOR_CLONES void squared_distances(const double* oxygens, std::size_t n,
                                          const Vec3<double>& from, double* squares) {
  for (std::size_t m = 0; m < n; ++m) {
    squares[m] = norm2(Vec3<double>{oxygens[m], oxygens[n + m], oxygens[2 * n + m]} - from);
  }
}

}  // namespace

std::vector<HydrogenBond> hydrogen_bonds(std::span<const double> positions_A) {
  std::vector<HydrogenBond> bonds;
  const std::size_t n = positions_A.size() / 9;
  std::vector<double> oxygens(3 * n), squares(n);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t m = 0; m < n; ++m) oxygens[c * n + m] = positions_A[9 * m + c];
  }
  std::vector<int> near(n + 1);
  for (int m = 0; m < static_cast<int>(n); ++m) {
    const Triple<double> donor = molecule_at(positions_A.data(), m);
    squared_distances(oxygens.data(), n, donor.o, squares.data());
    // Without branches, because most pairs are farther apart and some are not.
    std::size_t count = 0;
    for (std::size_t other = 0; other < n; ++other) {
      near[count] = static_cast<int>(other);
      count += squares[other] < kHydrogenBond_A * kHydrogenBond_A ? 1 : 0;
    }
    for (const int other : std::span(near).first(count)) {
      if (other == m) continue;
      const Vec3<double> oo = molecule_at(positions_A.data(), other).o - donor.o;
      const double oo2 = squares[static_cast<std::size_t>(other)];
      if (is_hydrogen_bond(oo, oo2, donor.h1 - donor.o)) bonds.push_back({m, other, 1});
      if (is_hydrogen_bond(oo, oo2, donor.h2 - donor.o)) bonds.push_back({m, other, 2});
    }
  }
  return bonds;
}

ClusterMeasures cluster_measures(std::span<const double> positions_A, double dipole_charge_e,
                                 const ClusterMasses& masses) {
  const auto n = static_cast<int>(positions_A.size() / 9);
  if (n == 0) return {};
  Vec3<double> oxygens{0, 0, 0};
  for (int m = 0; m < n; ++m) oxygens = oxygens + molecule_at(positions_A.data(), m).o;
  oxygens = (1.0 / n) * oxygens;
  const Vec3<double> mass = centre_of_mass(positions_A, masses);
  double sum[ShapeTerm::kNumbers] = {}, terms[ShapeTerm::kNumbers];
  for (int m = 0; m < n; ++m) {
    shape_terms(
        m, n, [&](int j) { return molecule_at(positions_A.data(), j); }, oxygens, mass,
        dipole_charge_e, terms);
    add_shape(terms, sum);
  }
  return tarn::cluster_measures(sum, n);
}

ClusterShape cluster_shape(std::span<const double> positions_A) {
  const ClusterMeasures m = cluster_measures(positions_A, 0.0, WaterModel{});
  return {m.radius_of_gyration_A, static_cast<int>(m.hydrogen_bonds), m.farthest_neighbour_A};
}

ClusterDipole cluster_dipole(std::span<const double> positions_A, double dipole_charge_e) {
  const ClusterMeasures m = cluster_measures(positions_A, dipole_charge_e, WaterModel{});
  return {m.dipole_D, m.molecule_dipole_D};
}

std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A) {
  return tarn::evaporated_molecules(positions_A, link_A);
}
std::optional<int> first_evaporated_molecule(std::span<const double> positions_A, double link_A) {
  const std::vector<int> departed = evaporated_molecules(positions_A, link_A);
  return departed.empty() ? std::nullopt : std::optional(departed.front());
}

void LindemannIndex::add(std::span<const double> positions_A) {
  const std::size_t n = positions_A.size() / 9;
  if (memory_.samples == 0) {
    memory_.means_A.assign(n * (n - 1) / 2, 0.0);
    memory_.squares_A2.assign(n * (n - 1) / 2, 0.0);
  }
  ++memory_.samples;
  const auto samples = static_cast<double>(memory_.samples);
  std::size_t pair = 0;
  for (int a = 1; a < static_cast<int>(n); ++a) {
    for (int b = 0; b < a; ++b, ++pair) {
      const Vec3<double> d =
          molecule_at(positions_A.data(), a).o - molecule_at(positions_A.data(), b).o;
      add_distance(std::sqrt(norm2(d)), samples, memory_.means_A[pair], memory_.squares_A2[pair]);
    }
  }
}

double LindemannIndex::value() const {
  if (memory_.samples < 2 || memory_.means_A.empty()) return std::nan("");
  double sum = 0.0;
  for (std::size_t p = 0; p < memory_.means_A.size(); ++p) {
    sum += lindemann_term(memory_.means_A[p], memory_.squares_A2[p],
                          static_cast<double>(memory_.samples));
  }
  return sum / static_cast<double>(memory_.means_A.size());
}

}  // namespace tarn::analysis
