#include "tarn/analysis/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tarn/core/units.hpp"

namespace tarn::analysis {
namespace {

constexpr double kBondLength_A = 3.5;
const double kBondCosine = std::sqrt(3.0) / 2.0;  // of 30 degrees

/// d <- b - a. @return its square
double difference2(const double* a, const double* b, double* d) {
  double square = 0.0;
  for (int k = 0; k < 3; ++k) {
    d[k] = b[k] - a[k];
    square += d[k] * d[k];
  }
  return square;
}
double difference(const double* a, const double* b, double* d) {
  return std::sqrt(difference2(a, b, d));
}

/// Calls found(h) for the hydrogens of the molecule at `donor` that point to the oxygen at
/// `acceptor`.
template <class Found>
void donated(const double* donor, const double* acceptor, const Found& found) {
  double oo[3], oh[3];
  const double square = difference2(donor, acceptor, oo);
  if (square >= kBondLength_A * kBondLength_A) return;
  const double distance = std::sqrt(square);
  for (int h = 1; h <= 2; ++h) {
    const double length = difference(donor, donor + 3 * h, oh);
    const double dot = oo[0] * oh[0] + oo[1] * oh[1] + oo[2] * oh[2];
    if (dot > kBondCosine * distance * length) found(h);
  }
}

}  // namespace

std::vector<HydrogenBond> hydrogen_bonds(std::span<const double> positions_A) {
  std::vector<HydrogenBond> bonds;
  const auto n = static_cast<int>(positions_A.size() / 9);
  const auto oxygen = [&](int m) { return &positions_A[9 * static_cast<std::size_t>(m)]; };
  for (int m = 0; m < n; ++m) {
    for (int other = 0; other < n; ++other) {
      if (other == m) continue;
      donated(oxygen(m), oxygen(other), [&](int h) { bonds.push_back({m, other, h}); });
    }
  }
  return bonds;
}

ClusterShape cluster_shape(std::span<const double> positions_A) {
  ClusterShape shape;
  const std::size_t n = positions_A.size() / 9;
  const auto oxygen = [&](std::size_t m) { return &positions_A[9 * m]; };
  double centre[3] = {0.0, 0.0, 0.0}, unused[3], square = 0.0;
  for (std::size_t m = 0; m < n; ++m) {
    for (int k = 0; k < 3; ++k) centre[k] += oxygen(m)[k] / static_cast<double>(n);
  }
  for (std::size_t m = 0; m < n; ++m) {
    const double distance = difference(centre, oxygen(m), unused);
    square += distance * distance;
    double nearest = n > 1 ? INFINITY : 0.0;
    for (std::size_t other = 0; other < n; ++other) {
      if (other == m) continue;
      nearest = std::min(nearest, difference(oxygen(m), oxygen(other), unused));
      donated(oxygen(m), oxygen(other), [&](int) { ++shape.hydrogen_bonds; });
    }
    shape.farthest_neighbour_A = std::max(shape.farthest_neighbour_A, nearest);
  }
  if (n > 0) shape.radius_of_gyration_A = std::sqrt(square / static_cast<double>(n));
  return shape;
}

std::vector<int> evaporated_molecules(std::span<const double> positions_A, double link_A) {
  const std::size_t n = positions_A.size() / 9;
  double unused[3];
  // As a rule all are near the first one.
  const auto is_near = [&](std::size_t a, std::size_t b) {
    return difference2(&positions_A[9 * a], &positions_A[9 * b], unused) < link_A * link_A;
  };
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

std::optional<int> first_evaporated_molecule(std::span<const double> positions_A, double link_A) {
  const std::vector<int> departed = evaporated_molecules(positions_A, link_A);
  return departed.empty() ? std::nullopt : std::optional(departed.front());
}

ClusterDipole cluster_dipole(std::span<const double> positions_A, double dipole_charge_e) {
  ClusterDipole dipole;
  double sum[3] = {0.0, 0.0, 0.0};
  const std::size_t n = positions_A.size() / 9;
  for (std::size_t m = 0; m < n; ++m) {
    const double* x = &positions_A[9 * m];
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double moment = dipole_charge_e * ((x[3 + k] - x[k]) + (x[6 + k] - x[k]));
      sum[k] += moment;
      square += moment * moment;
    }
    dipole.molecule_D += std::sqrt(square) * units::debye_per_e_A / static_cast<double>(n);
  }
  dipole.cluster_D =
      std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) * units::debye_per_e_A;
  return dipole;
}

void LindemannIndex::add(std::span<const double> positions_A) {
  const std::size_t n = positions_A.size() / 9;
  if (memory_.samples == 0) {
    memory_.means_A.assign(n * (n - 1) / 2, 0.0);
    memory_.squares_A2.assign(n * (n - 1) / 2, 0.0);
  }
  ++memory_.samples;
  const auto samples = static_cast<double>(memory_.samples);
  double unused[3];
  std::size_t pair = 0;
  for (std::size_t a = 1; a < n; ++a) {
    for (std::size_t b = 0; b < a; ++b, ++pair) {
      const double r = difference(&positions_A[9 * a], &positions_A[9 * b], unused);
      // Welford's update: no difference of large sums.
      const double off = r - memory_.means_A[pair];
      memory_.means_A[pair] += off / samples;
      memory_.squares_A2[pair] += off * (r - memory_.means_A[pair]);
    }
  }
}

double LindemannIndex::value() const {
  if (memory_.samples < 2 || memory_.means_A.empty()) return std::nan("");
  double sum = 0.0;
  for (std::size_t p = 0; p < memory_.means_A.size(); ++p) {
    sum += std::sqrt(memory_.squares_A2[p] / static_cast<double>(memory_.samples)) /
           memory_.means_A[p];
  }
  return sum / static_cast<double>(memory_.means_A.size());
}

}  // namespace tarn::analysis
