#include "rdf.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include "tarn/core/units.hpp"

namespace tarn::analysis {
namespace {

constexpr std::size_t kAtoms = 3;

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Calls visit(p_i - q_i) for each bin of the normalised histograms.
template <class Visit>
void for_each_difference(std::span<const double> a, std::span<const double> b, Visit visit) {
  if (a.size() != b.size()) throw std::invalid_argument("histograms with different bins");
  const double sum_a = sum_of(a), sum_b = sum_of(b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    visit((sum_a > 0.0 ? a[i] / sum_a : 0.0) - (sum_b > 0.0 ? b[i] / sum_b : 0.0));
  }
}

}  // namespace

std::array<double, 3> pairs_per_sample(int molecules) {
  const double n = molecules;
  const double molecule_pairs = 0.5 * n * (n - 1.0);
  return {molecule_pairs, 4.0 * molecule_pairs, 4.0 * molecule_pairs};
}

std::array<double, 3> neighbours_per_pair(int molecules) {
  // A pair of like atoms counts for both, and a molecule has two hydrogens.
  const double n = molecules;
  return {2.0 / n, 1.0 / n, 1.0 / n};
}

std::vector<double> bin_centres_A(double r_max_A, int bins) {
  std::vector<double> centres(static_cast<std::size_t>(bins));
  for (int i = 0; i < bins; ++i) centres[i] = (i + 0.5) * r_max_A / bins;
  return centres;
}

std::vector<double> rdf_weights(int bins) {
  const double n = bins;
  std::vector<double> weights(static_cast<std::size_t>(bins));
  // (r_hi^3 - r_lo^3) / r_max^3 = (3 i^2 + 3 i + 1) / bins^3, without cancellation.
  for (int i = 0; i < bins; ++i) weights[i] = n * n * n / (3.0 * i * i + 3.0 * i + 1.0);
  return weights;
}

std::vector<double> rdf(std::span<const std::uint64_t> counts, double samples, double pairs) {
  std::vector<double> g(counts.size(), 0.0);
  if (!(samples * pairs > 0.0)) return g;
  const std::vector<double> weights = rdf_weights(static_cast<int>(counts.size()));
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] = static_cast<double>(counts[i]) / (samples * pairs) * weights[i];
  }
  return g;
}

void count_pairs(std::span<const double> positions_A, double r_max_A, int bins,
                 std::span<std::uint64_t> counts) {
  const std::size_t atoms = positions_A.size() / 3;
  for (std::size_t a = 0; a < atoms; ++a) {
    for (std::size_t b = (a / kAtoms + 1) * kAtoms; b < atoms; ++b) {
      const double dx = positions_A[3 * a] - positions_A[3 * b];
      const double dy = positions_A[3 * a + 1] - positions_A[3 * b + 1];
      const double dz = positions_A[3 * a + 2] - positions_A[3 * b + 2];
      const double r = std::sqrt(dx * dx + dy * dy + dz * dz);
      if (!(r < r_max_A)) continue;
      const auto bin = static_cast<std::size_t>(r * (bins / r_max_A));
      if (bin >= static_cast<std::size_t>(bins)) continue;  // possible by rounding
      const std::size_t hydrogens = (a % kAtoms != 0 ? 1 : 0) + (b % kAtoms != 0 ? 1 : 0);
      ++counts[hydrogens * static_cast<std::size_t>(bins) + bin];
    }
  }
}

std::vector<double> shell_volumes_A3(double r_max_A, int bins) {
  const double ball_A3 = 4.0 / 3.0 * units::pi * r_max_A * r_max_A * r_max_A;
  std::vector<double> volumes = rdf_weights(bins);
  for (double& volume : volumes) volume = ball_A3 / volume;
  return volumes;
}

double total_variation(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for_each_difference(a, b, [&](double difference) { sum += std::abs(difference); });
  return (sum_of(a) > 0.0) != (sum_of(b) > 0.0) ? 1.0 : 0.5 * sum;
}

double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b) {
  double cumulative = 0.0, largest = 0.0;
  for_each_difference(a, b, [&](double difference) {
    cumulative += difference;
    largest = std::max(largest, std::abs(cumulative));
  });
  return largest;
}

}  // namespace tarn::analysis
