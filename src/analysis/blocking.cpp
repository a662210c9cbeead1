#include "tarn/analysis/blocking.hpp"

#include <algorithm>
#include <cmath>

namespace tarn::analysis {
namespace {

constexpr int kMostSeries = 32;
/// From this many whole series on, their spread tells the error.
constexpr double kEnoughSeries = 16.0;

}  // namespace

PooledBlocking PooledBlocking::of_replicas(int replicas) {
  return PooledBlocking(static_cast<std::size_t>(std::clamp(replicas, 1, kMostSeries)));
}

void PooledBlocking::add_replicas(std::span<const std::int64_t> ids,
                                  std::span<const double> values) {
  std::vector<double> sums(series_, 0.0), weights(series_, 0.0);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const std::size_t series = static_cast<std::size_t>(ids[r]) % series_;
    sums[series] += values[r];
    weights[series] += 1.0;
  }
  for (std::size_t s = 0; s < series_; ++s) {
    if (weights[s] > 0.0) add(s, sums[s], weights[s]);
  }
}

double PooledBlocking::error(const Level& level) {
  if (level.blocks < 2.0) return 0.0;
  const double mean = level.sum / level.weight;
  const double residual = level.ss - 2.0 * mean * level.sw + mean * mean * level.ww;
  return std::sqrt(level.blocks / (level.blocks - 1.0) * std::max(residual, 0.0)) / level.weight;
}

void PooledBlocking::add(std::size_t series, double sum, double weight) {
  if (levels_.empty()) shift_ = sum / weight;
  sum -= weight * shift_;
  for (std::size_t l = 0;; ++l) {
    if (l == levels_.size()) levels_.emplace_back().waiting.assign(2 * series_, 0.0);
    Level& level = levels_[l];
    level.blocks += 1.0;
    level.sum += sum;
    level.weight += weight;
    level.ss += sum * sum;
    level.sw += sum * weight;
    level.ww += weight * weight;
    double* waiting = &level.waiting[2 * series];
    if (waiting[1] == 0.0) {
      waiting[0] = sum;
      waiting[1] = weight;
      return;
    }
    sum += waiting[0];
    weight += waiting[1];
    waiting[0] = waiting[1] = 0.0;
  }
}

Blocking PooledBlocking::result() const {
  Blocking result;
  if (levels_.empty()) return result;
  const Level& values = levels_.front();
  result.mean = shift_ + values.sum / values.weight;
  const double naive = error(values);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    // Fewer than four blocks say nothing about their own spread.
    if (level.blocks < (l == 0 ? 2.0 : 4.0)) break;
    // Less than the naive error is noise in the series that MD gives: a level may only raise it.
    const double here = std::max(error(level), naive);
    const double ratio = naive > 0.0 ? here / naive : 1.0;
    const double length = std::ldexp(1.0, static_cast<int>(l));
    result.converged = length * length * length > 2.0 * values.blocks * std::pow(ratio, 4);
    // Without convergence the largest estimate is the best lower bound.
    if (result.converged || here > result.error) {
      result.error = here;
      result.error_of_error = here / std::sqrt(2.0 * (level.blocks - 1.0));
      result.block_length = std::size_t{1} << l;
    }
    const bool whole_series = level.blocks <= static_cast<double>(series_);
    result.converged = result.converged || (whole_series && level.blocks >= kEnoughSeries);
    if (result.converged) break;
  }
  if (naive > 0.0) result.autocorrelation_time = 0.5 * std::pow(result.error / naive, 2);
  return result;
}

std::vector<double> PooledBlocking::memory() const {
  std::vector<double> memory{shift_};
  for (const Level& l : levels_) {
    memory.insert(memory.end(), {l.blocks, l.sum, l.weight, l.ss, l.sw, l.ww});
    memory.insert(memory.end(), l.waiting.begin(), l.waiting.end());
  }
  return memory;
}

void PooledBlocking::restore(std::span<const double> memory) {
  shift_ = memory[0];
  levels_.clear();
  for (std::size_t i = 1; i < memory.size(); i += 6 + 2 * series_) {
    const auto waiting = memory.subspan(i + 6, 2 * series_);
    levels_.push_back({memory[i],
                       memory[i + 1],
                       memory[i + 2],
                       memory[i + 3],
                       memory[i + 4],
                       memory[i + 5],
                       {waiting.begin(), waiting.end()}});
  }
}

Blocking blocking(std::span<const double> series) {
  PooledBlocking pooled;
  for (const double value : series) pooled.add(0, value);
  return pooled.result();
}

}  // namespace tarn::analysis
