#include "blocking.hpp"

#include <algorithm>
#include <cmath>

namespace tarn::analysis {
namespace {

constexpr int kMostSeries = 32;
/// With at least this many whole series their spread alone determines the error. Series that
/// stopped early count less: the effective number of series must reach kEnoughAlike.
constexpr double kEnoughSeries = 16.0, kEnoughAlike = 12.0;
/// Fewer blocks or series do not determine their spread.
constexpr double kFewestSeries = 4.0;
/// A spread of whole series that exceeds the error from blocks by this factor reveals motions that
/// are slower than the blocks.
constexpr double kAgree = 1.5;
/// Fewer blocks agree by chance too often to end the search for longer ones.
constexpr double kEnoughBlocks = 8.0;

/// Blocks of Halves: their largest number, and the fewest for each of its tests.
constexpr std::size_t kMostBlocks = 64, kFewestBlocks = 8, kFewestForBeginning = 32;
/// Fewer series do not determine their spread; the spread of many is an error accurate to a fifth.
constexpr std::size_t kSeriesWithSpread = 4, kManySeries = 16;

using Means = BlockSums<1>::Value;
using Products = BlockSums<3>::Value;  // sums of x, y, x y and 1

Means residual_of_mean(const Means& sum) { return {1.0, -sum[0] / sum[1]}; }
Products residual_of_x(const Products& sum) { return {1.0, 0.0, 0.0, -sum[0] / sum[3]}; }
Products residual_of_y(const Products& sum) { return {0.0, 1.0, 0.0, -sum[1] / sum[3]}; }
Products residual_of_x_and_y(const Products& sum) {
  return {1.0, 1.0, 0.0, -(sum[0] + sum[1]) / sum[3]};
}
/// Residual of the mean of the product minus the product of the means.
Products residual_of_covariance(const Products& sum) {
  const double x = sum[0] / sum[3], y = sum[1] / sum[3];
  return {-y, -x, 1.0, 2.0 * x * y - sum[2] / sum[3]};
}

}  // namespace

// --- BlockSums ---

template <std::size_t kMoments>
std::size_t BlockSums<kMoments>::series_of_replicas(int replicas, int starts) {
  const int most = starts < kMostSeries ? kMostSeries / starts * starts : kMostSeries;
  return static_cast<std::size_t>(std::clamp(replicas, 1, most));
}

template <std::size_t kMoments>
template <class F>
void BlockSums<kMoments>::add_replicas_by(std::span<const std::int64_t> ids, const F& value_of) {
  // One value per series: the sum over its replicas.
  std::vector<Value> of_series(series_);
  SeriesOfReplica series(series_);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    Value& sum = of_series[series.of(ids[r])];
    const Value value = value_of(r);
    for (std::size_t i = 0; i < kNumbers; ++i) sum[i] += value[i];
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
void BlockSums<kMoments>::Level::add(const Value& value) {
  blocks += 1.0;
  std::size_t product = 0;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    sum[i] += value[i];
    for (std::size_t j = i; j < kNumbers; ++j) products[product++] += value[i] * value[j];
  }
}

template <std::size_t kMoments>
void BlockSums<kMoments>::add(std::size_t series, Value value) {
  for (std::size_t l = 0;; ++l) {
    if (l == levels_.size()) levels_.emplace_back().waiting.resize(series_);
    Level& level = levels_[l];
    level.add(value);
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
typename BlockSums<kMoments>::Level BlockSums<kMoments>::whole_series() const {
  Level whole;
  for (std::size_t s = 0; s < series_; ++s) {
    const Value total = total_of(s);
    if (total.back() > 0.0) whole.add(total);
  }
  return whole;
}

template <std::size_t kMoments>
typename BlockSums<kMoments>::Value BlockSums<kMoments>::total_of(std::size_t series) const {
  // Each value of the series is in exactly one waiting block.
  Value total{};
  for (const Level& level : levels_) {
    for (std::size_t i = 0; i < kNumbers; ++i) total[i] += level.waiting[series][i];
  }
  return total;
}

template <std::size_t kMoments>
Blocking BlockSums<kMoments>::errors(Value (*residual_of)(const Value& sum),
                                     bool with_series) const {
  Blocking result;
  if (levels_.empty()) return result;
  const double naive = error(levels_.front(), residual_of), values = levels_.front().blocks;
  const Level whole = whole_series();
  // Effective number of series, less than their number if some stopped early.
  const double series = whole.sum.back() * whole.sum.back() / whole.products.back();
  const auto take = [&result](double error, double blocks, double length) {
    result.error = error;
    result.error_of_error = error / std::sqrt(2.0 * (blocks - 1.0));
    result.block_length = static_cast<std::size_t>(std::lround(length));
  };
  // The condition of Lee et al.
  const auto are_independent = [=](double blocks, double length, double error) {
    const double ratio = naive > 0.0 ? error / naive : 1.0;
    return blocks >= kEnoughBlocks && std::pow(length, 3) > 2.0 * values * std::pow(ratio, 4);
  };
  result.error = naive;
  for (std::size_t l = 0; l < levels_.size() && !result.converged; ++l) {
    const double blocks = levels_[l].blocks;
    // The last level is that of whole series.
    if (blocks < (l == 0 ? 2.0 : kFewestSeries) || (l > 0 && blocks <= series + 0.5)) break;
    // Error of the mean of all values, not only of those in blocks. For MD series a decrease from
    // one level to the next is noise.
    const double here =
        error(levels_[l], residual_of) * std::sqrt(levels_[l].sum.back() / samples());
    const bool rises = l == 0 || here > result.error;
    const double largest = std::max(here, result.error);
    const double length = std::ldexp(1.0, static_cast<int>(l));
    result.converged = are_independent(blocks, length, largest);
    if (result.converged || rises) take(largest, blocks, length);
  }
  if (with_series && series >= kFewestSeries - 0.5) {
    const double spread = error(whole, residual_of);
    const bool enough = whole.blocks >= kEnoughSeries && series >= kEnoughAlike;
    const double length = values / series, largest = std::max(spread, result.error);
    // Blocks that end the search agree with whole series, or hide slow motions. Without such
    // blocks, the spread of many or of independent series is the error.
    result.converged = result.converged ? spread <= kAgree * result.error
                                        : enough || are_independent(series, length, largest);
    if (enough || spread > result.error) take(std::max(spread, naive), series, length);
  }
  if (naive > 0.0) result.autocorrelation_time = 0.5 * std::pow(result.error / naive, 2);
  return result;
}

template <std::size_t kMoments>
double BlockSums<kMoments>::sigmas_between(Value (*residual_of)(const Value& sum),
                                           std::span<const int> start_of_series) const {
  if (empty()) return 0.0;
  const Value residual = residual_of(sum());
  struct Part {
    double series = 0.0, weight = 0.0, sum = 0.0, squares = 0.0, products = 0.0, weights = 0.0;
    double mean() const { return sum / weight; }
    /// Square of the error of the mean, as in ratio_and_error().
    double square() const {
      const double m = mean(), about_mean = squares - 2.0 * m * products + m * m * weights;
      return series / (series - 1.0) * std::max(about_mean, 0.0) / (weight * weight);
    }
  };
  const int starts = start_of_series.empty() ? 0 : 1 + std::ranges::max(start_of_series);
  double most = 0.0;
  for (int start = 0; start < starts; ++start) {
    Part with, without;
    for (std::size_t s = 0; s < series_; ++s) {
      const Value total = total_of(s);
      const double w = total.back();
      if (w == 0.0 || start_of_series[s] < 0) continue;
      double x = 0.0;
      for (std::size_t i = 0; i < kNumbers; ++i) x += residual[i] * total[i];
      Part& part = start_of_series[s] == start ? with : without;
      part.series += 1.0;
      part.weight += w;
      part.sum += x;
      part.squares += x * x;
      part.products += x * w;
      part.weights += w * w;
    }
    if (with.series < 2.0 || without.series < 2.0) continue;
    const double difference = std::abs(with.mean() - without.mean());
    const double a = with.square(), b = without.square();
    if (difference == 0.0) continue;
    if (a + b == 0.0) return kMostSigmas;
    // Welch 1947: degrees of freedom of a difference of means with unequal spreads.
    const double freedom =
        (a + b) * (a + b) / (a * a / (with.series - 1.0) + b * b / (without.series - 1.0));
    most = std::max(most, normal_of_t(difference / std::sqrt(a + b), freedom));
  }
  return std::min(most, kMostSigmas);
}

template <std::size_t kMoments>
double BlockSums<kMoments>::max_numbers(double values) const {
  const double level =
      static_cast<double>(1 + kNumbers + kProducts) + static_cast<double>(kNumbers * series_);
  // Levels exist for all block lengths 2^l up to the number of values.
  const double levels = values >= 1.0 ? std::floor(std::log2(values)) + 1.0 : 0.0;
  return static_cast<double>(kShifts) + level * levels;
}

template <std::size_t kMoments>
void BlockSums<kMoments>::archive(Memory& m) {
  m(shift_);
  m.rest(levels_, [&](Level& level) {
    level.waiting.resize(series_);
    m(level.blocks, level.sum, level.products, level.waiting);
  });
}

template class BlockSums<1>;
template class BlockSums<3>;

// --- means and covariances ---

void PooledBlocking::add_replicas(std::span<const std::int64_t> ids,
                                  std::span<const double> values) {
  if (empty() && !values.empty()) shift_[0] = values.front();
  add_replicas_by(ids, [&](std::size_t r) { return Value{values[r] - shift_[0], 1.0}; });
}

void PooledBlocking::add_sums(std::span<const Moments> of_series) {
  for (std::size_t s = 0; s < of_series.size(); ++s) {
    const Moments& m = of_series[s];
    if (m.count == 0.0) continue;
    if (empty()) shift_[0] = m.pivot;
    BlockSums::add(s, {m.sum_about(shift_[0]), m.count});
  }
}

void PooledBlocking::add(std::size_t series, double sum, double weight) {
  if (empty()) shift_[0] = sum / weight;
  BlockSums::add(series, {sum - weight * shift_[0], weight});
}

Blocking PooledBlocking::result(bool with_series) const {
  if (empty()) return {};
  Blocking result = errors(residual_of_mean, with_series);
  const auto [total, weight] = sum();
  result.mean = shift_[0] + total / weight;
  return result;
}

double PooledBlocking::sigmas_between(std::span<const int> start_of_series) const {
  return BlockSums::sigmas_between(residual_of_mean, start_of_series);
}

void PooledCovariance::add_replicas(std::span<const std::int64_t> ids, std::span<const double> x,
                                    std::span<const double> y) {
  if (empty() && !ids.empty()) shift_ = {x.front(), y.front()};
  add_replicas_by(ids, [&](std::size_t r) {
    const double of_x = x[r] - shift_[0], of_y = y[r] - shift_[1];
    return Value{of_x, of_y, of_x * of_y, 1.0};
  });
}

void PairSums::add(const PairSums& other) {
  if (other.x.count == 0.0) return;
  if (x.count == 0.0) {
    *this = other;
    return;
  }
  const double dx = other.x.pivot - x.pivot, dy = other.y.pivot - y.pivot;
  product += other.product + dx * other.y.sum + dy * other.x.sum + other.x.count * dx * dy;
  x.add(other.x);
  y.add(other.y);
}

void PooledCovariance::add_sums(std::span<const PairSums> of_series) {
  for (std::size_t s = 0; s < of_series.size(); ++s) {
    const auto& [x, y, product] = of_series[s];
    if (x.count == 0.0) continue;
    if (empty()) shift_ = {x.pivot, y.pivot};
    const double dx = x.pivot - shift_[0], dy = y.pivot - shift_[1];
    BlockSums::add(s, {x.sum_about(shift_[0]), y.sum_about(shift_[1]),
                       product + dx * y.sum + dy * x.sum + x.count * dx * dy, x.count});
  }
}

Blocking PooledCovariance::result() const {
  if (empty()) return {};
  Blocking result = errors(residual_of_covariance);
  const Blocking x = errors(residual_of_x), y = errors(residual_of_y);
  const double both = errors(residual_of_x_and_y).error, most = x.error * y.error;
  // Covariance of the errors of the means. It is bounded because the three errors may come from
  // different levels.
  const double of_errors =
      std::clamp(0.5 * (both * both - x.error * x.error - y.error * y.error), -most, most);
  const double second = std::hypot(most, of_errors);
  const auto [of_x, of_y, product, weight] = sum();
  result.mean = product / weight - of_x / weight * (of_y / weight) + of_errors;
  if (!x.converged || !y.converged || second > result.error) {
    result.converged = false;
    result.autocorrelation_time =
        std::max({result.autocorrelation_time, x.autocorrelation_time, y.autocorrelation_time});
  }
  result.error = std::max(result.error, second);
  return result;
}

double PooledCovariance::sigmas_between(std::span<const int> start_of_series) const {
  return BlockSums::sigmas_between(residual_of_covariance, start_of_series);
}

Blocking blocking(std::span<const double> series) {
  PooledBlocking pooled;
  for (const double value : series) pooled.add(0, value);
  return pooled.result();
}

// --- Halves ---

Halves Halves::of_replicas(int replicas, int starts) {
  return Halves(PooledBlocking::series_of_replicas(replicas, starts));
}

void Halves::add_replicas(std::span<const std::int64_t> ids, std::span<const double> values) {
  SeriesOfReplica series(series_);
  for (std::size_t r = 0; r < ids.size(); ++r) {
    Sum& sum = last_[series.of(ids[r])];
    sum = {sum.of_values + values[r], sum.weight + 1.0};
  }
  end_time();
}

void Halves::add_sums(std::span<const Moments> of_series) {
  for (std::size_t s = 0; s < of_series.size(); ++s) {
    const Moments& m = of_series[s];
    last_[s] = {last_[s].of_values + m.sum_about(0.0), last_[s].weight + m.count};
  }
  end_time();
}

void Halves::end_time() {
  if (++times_ < length_) return;
  blocks_.push_back(last_);
  std::fill(last_.begin(), last_.end(), Sum{});
  times_ = 0;
  if (blocks_.size() < kMostBlocks) return;
  for (std::size_t b = 0; b < kMostBlocks / 2; ++b) {
    const std::vector<Sum> one = blocks_[2 * b], next = blocks_[2 * b + 1];
    for (std::size_t s = 0; s < series_; ++s) {
      blocks_[b][s] = {one[s].of_values + next[s].of_values, one[s].weight + next[s].weight};
    }
  }
  blocks_.resize(kMostBlocks / 2);
  length_ *= 2;
}

Halves::Sum Halves::sum_of(std::size_t series, std::size_t begin, std::size_t end) const {
  Sum sum;
  for (std::size_t b = begin; b < end; ++b) {
    const Sum& block = blocks_[b][series];
    sum = {sum.of_values + block.of_values, sum.weight + block.weight};
  }
  return sum;
}

Halves::Shift Halves::shift_from_start() const {
  const std::size_t n = blocks_.size();
  if (n < kFewestForBeginning) return {};
  PooledBlocking second_half(series_);
  Sum beginning;
  for (std::size_t s = 0; s < series_; ++s) {
    const Sum first = sum_of(s, 0, n / 8);
    if (blocks_.back()[s].weight == 0.0) continue;  // all its replicas stopped
    beginning = {beginning.of_values + first.of_values, beginning.weight + first.weight};
    for (std::size_t b = n - n / 2; b < n; ++b) {
      second_half.add(s, blocks_[b][s].of_values, blocks_[b][s].weight);
    }
  }
  // The spread of few series is too uncertain to detect a short relaxation.
  const Blocking later =
      series_ >= kManySeries ? second_half.result() : second_half.result_of_blocks();
  if (!(later.error_of_error > 0.0) || beginning.weight == 0.0) return {};
  const double mean = later.mean - beginning.of_values / beginning.weight;
  // The squared error of a mean is inversely proportional to the number of values.
  const double error = later.error * std::sqrt(1.0 + second_half.samples() / beginning.weight);
  const double degrees = 0.5 * std::pow(later.error / later.error_of_error, 2);
  return {mean, normal_of_t(mean / error, degrees)};
}

Halves::Shift Halves::shift(double error) const {
  if (blocks_.size() < kFewestBlocks) return {};
  const std::size_t half = blocks_.size() / 2;
  std::vector<double> rises;
  double all_weight = 0.0, first_weight = 0.0, second_weight = 0.0;
  for (std::size_t s = 0; s < series_; ++s) {
    const Sum first = sum_of(s, 0, half), second = sum_of(s, blocks_.size() - half, blocks_.size());
    all_weight += sum_of(s, 0, blocks_.size()).weight;
    if (first.weight == 0.0 || second.weight == 0.0) continue;  // all its replicas stopped
    rises.push_back(second.of_values / second.weight - first.of_values / first.weight);
    first_weight += first.weight;
    second_weight += second.weight;
  }
  if (rises.empty()) return {};
  const MeanError all = mean_and_error(rises);
  if (rises.size() >= kSeriesWithSpread) {
    if (!(all.error > 0.0)) return {all.mean, 0.0};
    return {all.mean, normal_of_t(all.mean / all.error, static_cast<double>(rises.size() - 1))};
  }
  const double of_difference =
      error * std::sqrt(all_weight * (1.0 / first_weight + 1.0 / second_weight));
  return {all.mean, of_difference > 0.0 ? all.mean / of_difference : 0.0};
}

void Halves::archive(Memory& m) {
  const auto archive_sums = [&](std::vector<Sum>& sums) {
    sums.resize(series_);
    for (Sum& sum : sums) m(sum.of_values, sum.weight);
  };
  m(length_, times_);
  archive_sums(last_);
  m.rest(blocks_, archive_sums);
}

// --- errors without blocks ---

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
