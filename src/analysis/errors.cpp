#include "tarn/analysis/errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tarn::analysis {

MeanError mean_and_error(std::span<const double> values) {
  MeanError result;
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return result;
  for (const double value : values) result.mean += value;
  result.mean /= n;
  if (values.size() < 2) return result;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.error = std::sqrt(squares / (n - 1.0) / n);
  return result;
}

void Moments::add(const Moments& other) {
  if (other.count == 0.0) return;
  if (count == 0.0) {
    *this = other;
    return;
  }
  const double shift = other.pivot - pivot;
  count += other.count;
  sum += other.sum + other.count * shift;
  square += other.square + shift * (2.0 * other.sum + other.count * shift);
}

MeanError mean_and_error(const Moments& moments) {
  if (moments.count == 0.0) return {};
  MeanError result{moments.mean(), 0.0};
  if (moments.count < 2.0) return result;
  const double squares = moments.square - moments.sum * moments.sum / moments.count;
  result.error = std::sqrt(std::max(squares, 0.0) / (moments.count - 1.0) / moments.count);
  return result;
}

MeanError ratio_and_error(std::span<const double> counts, std::span<const double> samples) {
  double all_counts = 0.0;
  double all_samples = 0.0;
  double groups = 0.0;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    if (!(samples[g] > 0.0)) continue;
    all_counts += counts[g];
    all_samples += samples[g];
    groups += 1.0;
  }
  MeanError result;
  if (groups < 1.0) return result;
  result.mean = all_counts / all_samples;
  if (groups < 2.0) return result;
  double squares = 0.0;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    if (!(samples[g] > 0.0)) continue;
    const double residual = counts[g] - result.mean * samples[g];
    squares += residual * residual;
  }
  result.error = std::sqrt(groups / (groups - 1.0) * squares) / all_samples;
  return result;
}

double normal_of_t(double t, double degrees_of_freedom) {
  const double n = degrees_of_freedom;
  const double size = std::sqrt(n * std::log1p(t * t / n)) * (8.0 * n + 1.0) / (8.0 * n + 3.0);
  return std::copysign(size, t);
}

int decimals_for(double error) {
  if (!(error > 0.0) || !std::isfinite(error)) return 3;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 9);
}

}  // namespace tarn::analysis
