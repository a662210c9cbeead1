#include "tarn/analysis/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace tarn::analysis {
namespace {

double sum_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

/// Calls visit(p_i - q_i) for each bin of the normalised histograms.
template <class Visit>
void for_each_difference(std::span<const double> a, std::span<const double> b, Visit visit) {
  if (a.size() != b.size()) throw std::invalid_argument("histograms with different bins");
  const double sum_a = sum_of(a);
  const double sum_b = sum_of(b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    visit((sum_a > 0.0 ? a[i] / sum_a : 0.0) - (sum_b > 0.0 ? b[i] / sum_b : 0.0));
  }
}

bool one_is_empty(std::span<const double> a, std::span<const double> b) {
  return (sum_of(a) > 0.0) != (sum_of(b) > 0.0);
}

}  // namespace

double total_variation(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for_each_difference(a, b, [&](double difference) { sum += std::abs(difference); });
  return one_is_empty(a, b) ? 1.0 : 0.5 * sum;
}

double kolmogorov_smirnov(std::span<const double> a, std::span<const double> b) {
  double cumulative = 0.0;
  double largest = 0.0;
  for_each_difference(a, b, [&](double difference) {
    cumulative += difference;
    largest = std::max(largest, std::abs(cumulative));
  });
  return largest;
}

}  // namespace tarn::analysis
