#include "numbers.hpp"

namespace tarn {

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

double largest_of(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

}  // namespace tarn
