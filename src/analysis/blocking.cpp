#include "tarn/analysis/blocking.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tarn/analysis/errors.hpp"

namespace tarn::analysis {
namespace {

std::vector<double> halved(const std::vector<double>& values) {
  std::vector<double> means(values.size() / 2);
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i] = 0.5 * (values[2 * i] + values[2 * i + 1]);
  }
  return means;
}

}  // namespace

Blocking blocking(std::span<const double> series) {
  Blocking result;
  const MeanError naive = mean_and_error(series);
  result.mean = naive.mean;
  const auto n = static_cast<double>(series.size());
  std::vector<double> blocks(series.begin(), series.end());
  // Fewer than four blocks say nothing about their own spread.
  for (std::size_t length = 1; blocks.size() >= (length == 1 ? 2u : 4u); length *= 2) {
    const double error = mean_and_error(blocks).error;
    // A ratio below 1 is noise in the series that MD gives, and must not make a level look good.
    const double ratio = naive.error > 0.0 ? std::max(error / naive.error, 1.0) : 1.0;
    const auto b = static_cast<double>(length);
    result.converged = b * b * b > 2.0 * n * std::pow(ratio, 4);
    // Without convergence the largest estimate is the best lower bound.
    if (result.converged || error > result.error) {
      result.error = error;
      result.error_of_error = error / std::sqrt(2.0 * (static_cast<double>(blocks.size()) - 1.0));
      result.block_length = length;
    }
    if (result.converged) break;
    blocks = halved(blocks);
  }
  if (naive.error > 0.0) {
    result.autocorrelation_time = 0.5 * std::pow(result.error / naive.error, 2);
  }
  return result;
}

}  // namespace tarn::analysis
