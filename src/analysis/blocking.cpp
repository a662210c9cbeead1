#include "tarn/analysis/blocking.hpp"

#include <algorithm>
#include <cmath>

namespace tarn::analysis {
namespace {

constexpr int kMostSeries = 32;
/// From this many whole series on, their spread tells the error.
constexpr double kEnoughSeries = 16.0;

/// Of the mean of the first moment.
template <std::size_t kMoments>
typename BlockSums<kMoments>::Value residual_of_mean(
    const typename BlockSums<kMoments>::Value& sum) {
  typename BlockSums<kMoments>::Value residual{};
  residual.front() = 1.0;
  residual.back() = -sum.front() / sum.back();
  return residual;
}
/// Of the mean square less the square of the mean.
BlockSums<2>::Value residual_of_variance(const BlockSums<2>::Value& sum) {
  const double mean = sum[0] / sum[2], mean_square = sum[1] / sum[2];
  return {-2.0 * mean, 1.0, 2.0 * mean * mean - mean_square};
}

}  // namespace

// --- BlockSums ---

template <std::size_t kMoments>
std::size_t BlockSums<kMoments>::series_of_replicas(int replicas) {
  return static_cast<std::size_t>(std::clamp(replicas, 1, kMostSeries));
}

template <std::size_t kMoments>
void BlockSums<kMoments>::add_replicas(std::span<const std::int64_t> ids,
                                       std::span<const double> values) {
  if (empty() && !values.empty()) shift_ = values.front();
  // One value of each series: the sum of those of its replicas.
  std::vector<Value> of_series(series_);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    Value& sum = of_series[static_cast<std::size_t>(ids[r]) % series_];
    const double x = values[r] - shift_;
    double moment = 1.0;
    for (std::size_t i = 0; i < kMoments; ++i) sum[i] += moment *= x;
    sum.back() += 1.0;
  }
  for (std::size_t s = 0; s < series_; ++s) {
    if (of_series[s].back() > 0.0) add(s, of_series[s]);
  }
}

template <std::size_t kMoments>
double BlockSums<kMoments>::error(const Level& level, Value (*residual_of)(const Value& sum)) {
  if (level.blocks < 2.0) return 0.0;
  const Value residual = residual_of(level.sum);
  double square = 0.0;
  std::size_t product = 0;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    square += residual[i] * residual[i] * level.products[product++];
    for (std::size_t j = i + 1; j < kNumbers; ++j) {
      square += 2.0 * residual[i] * residual[j] * level.products[product++];
    }
  }
  return std::sqrt(level.blocks / (level.blocks - 1.0) * std::max(square, 0.0)) / level.sum.back();
}

template <std::size_t kMoments>
void BlockSums<kMoments>::add(std::size_t series, Value value) {
  for (std::size_t l = 0;; ++l) {
    if (l == levels_.size()) levels_.emplace_back().waiting.resize(series_);
    Level& level = levels_[l];
    level.blocks += 1.0;
    std::size_t product = 0;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      level.sum[i] += value[i];
      for (std::size_t j = i; j < kNumbers; ++j) level.products[product++] += value[i] * value[j];
    }
    Value& waiting = level.waiting[series];
    if (waiting.back() == 0.0) {
      waiting = value;
      return;
    }
    for (std::size_t i = 0; i < kNumbers; ++i) value[i] += waiting[i];
    waiting = {};
  }
}

template <std::size_t kMoments>
Blocking BlockSums<kMoments>::errors(Value (*residual_of)(const Value& sum)) const {
  Blocking result;
  if (levels_.empty()) return result;
  const double naive = error(levels_.front(), residual_of);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const Level& level = levels_[l];
    // Fewer than four blocks say nothing about their own spread.
    if (level.blocks < (l == 0 ? 2.0 : 4.0)) break;
    // Less than the naive error is noise in the series that MD gives: a level may only raise it.
    const double here = std::max(error(level, residual_of), naive);
    const double ratio = naive > 0.0 ? here / naive : 1.0;
    const double length = std::ldexp(1.0, static_cast<int>(l));
    result.converged = length * length * length > 2.0 * levels_.front().blocks * std::pow(ratio, 4);
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

template <std::size_t kMoments>
double BlockSums<kMoments>::most_numbers(double values) const {
  const double level =
      static_cast<double>(1 + kNumbers + kProducts) + static_cast<double>(kNumbers * series_);
  // A level for each number of blocks of twice the length that there is a whole one of.
  const double levels = values >= 1.0 ? std::floor(std::log2(values)) + 1.0 : 0.0;
  return 1.0 + level * levels;
}

template <std::size_t kMoments>
std::vector<double> BlockSums<kMoments>::memory() const {
  std::vector<double> memory{shift_};
  for (const Level& l : levels_) {
    memory.push_back(l.blocks);
    memory.insert(memory.end(), l.sum.begin(), l.sum.end());
    memory.insert(memory.end(), l.products.begin(), l.products.end());
    for (const Value& w : l.waiting) memory.insert(memory.end(), w.begin(), w.end());
  }
  return memory;
}

template <std::size_t kMoments>
void BlockSums<kMoments>::restore(std::span<const double> memory) {
  shift_ = memory.front();
  memory = memory.subspan(1);
  levels_.clear();
  const auto take = [&memory](auto& into) {
    std::copy_n(memory.begin(), into.size(), into.begin());
    memory = memory.subspan(into.size());
  };
  while (!memory.empty()) {
    Level& level = levels_.emplace_back();
    level.blocks = memory.front();
    memory = memory.subspan(1);
    take(level.sum);
    take(level.products);
    level.waiting.resize(series_);
    for (Value& w : level.waiting) take(w);
  }
}

template class BlockSums<1>;
template class BlockSums<2>;

// --- means and variances ---

void PooledBlocking::add(std::size_t series, double sum, double weight) {
  if (empty()) shift_ = sum / weight;
  BlockSums::add(series, {sum - weight * shift_, weight});
}

Blocking PooledBlocking::result() const {
  if (empty()) return {};
  Blocking result = errors(residual_of_mean<1>);
  const auto [total, weight] = sum();
  result.mean = shift_ + total / weight;
  return result;
}

Blocking PooledVariance::result() const {
  if (empty()) return {};
  Blocking result = errors(residual_of_variance);
  const auto [total, squares, weight] = sum();
  const double mean = total / weight;
  const double error_of_mean = errors(residual_of_mean<2>).error;
  const double square = error_of_mean * error_of_mean;
  result.mean = std::max(squares / weight - mean * mean, 0.0) + square;
  result.error = std::max(result.error, std::sqrt(2.0) * square);
  return result;
}

Blocking blocking(std::span<const double> series) {
  PooledBlocking pooled;
  for (const double value : series) pooled.add(0, value);
  return pooled.result();
}

}  // namespace tarn::analysis
