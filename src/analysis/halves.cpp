#include "halves.hpp"

#include <algorithm>
#include <cmath>

#include "blocking.hpp"

namespace tarn::analysis {
namespace {

constexpr std::size_t kMost = 64, kFewest = 8, kFewestForBeginning = 32;
/// Fewer series do not determine their spread.
constexpr std::size_t kEnoughSeries = 4;
/// The spread of many series is an error accurate to a fifth.
constexpr std::size_t kManySeries = 16;

}  // namespace

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
  if (blocks_.size() < kMost) return;
  for (std::size_t b = 0; b < kMost / 2; ++b) {
    const std::vector<Sum> one = blocks_[2 * b], next = blocks_[2 * b + 1];
    for (std::size_t s = 0; s < series_; ++s) {
      blocks_[b][s] = {one[s].of_values + next[s].of_values, one[s].weight + next[s].weight};
    }
  }
  blocks_.resize(kMost / 2);
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
  if (blocks_.size() < kFewest) return {};
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
  if (rises.size() >= kEnoughSeries) {
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

}  // namespace tarn::analysis
