#include "time_blocks.hpp"

#include <algorithm>

#include "tarn/io/binary.hpp"

namespace tarn {

void TimeBlocks::add(std::span<const std::uint64_t> sums, std::int64_t samples) {
  if (samples == last_samples_) return;
  std::vector<std::uint64_t> block(sums.begin(), sums.end());
  for (std::size_t i = 0; i < block.size(); ++i) block[i] -= last_sums_[i];
  sums_.push_back(std::move(block));
  samples_.push_back(samples - last_samples_);
  last_sums_.assign(sums.begin(), sums.end());
  last_samples_ = samples;
  if (size() == kMost) merge_neighbours();
}

void TimeBlocks::merge_neighbours() {
  for (std::size_t b = 0; b < kMost / 2; ++b) {
    std::vector<std::uint64_t> merged = sums_[2 * b];
    for (std::size_t i = 0; i < merged.size(); ++i) merged[i] += sums_[2 * b + 1][i];
    sums_[b] = std::move(merged);
    samples_[b] = samples_[2 * b] + samples_[2 * b + 1];
  }
  sums_.resize(kMost / 2);
  samples_.resize(kMost / 2);
  length_ *= 2;
}

std::vector<std::size_t> TimeBlocks::full_enough() const {
  std::vector<std::size_t> blocks;
  if (samples_.empty()) return blocks;
  const std::int64_t fullest = *std::max_element(samples_.begin(), samples_.end());
  for (std::size_t b = 0; b < size(); ++b) {
    if (2 * samples_[b] >= fullest) blocks.push_back(b);
  }
  return blocks;
}

std::vector<double> TimeBlocks::sums(std::size_t value) const {
  std::vector<double> sums;
  for (const std::size_t b : full_enough()) sums.push_back(static_cast<double>(sums_[b][value]));
  return sums;
}

std::vector<double> TimeBlocks::samples() const {
  std::vector<double> samples;
  for (const std::size_t b : full_enough()) samples.push_back(static_cast<double>(samples_[b]));
  return samples;
}

void TimeBlocks::save(std::ostream& out) const {
  io::put(out, length_);
  io::put(out, std::span<const std::uint64_t>(last_sums_));
  io::put(out, last_samples_);
  io::put(out, std::span<const std::int64_t>(samples_));
  for (const auto& block : sums_) io::put(out, std::span<const std::uint64_t>(block));
}

void TimeBlocks::load(std::istream& in) {
  length_ = io::get_i64(in);
  last_sums_ = io::get_u64s(in, last_sums_.size());
  last_samples_ = io::get_i64(in);
  samples_ = io::get_i64s(in);
  sums_.clear();
  for (std::size_t b = 0; b < samples_.size(); ++b)
    sums_.push_back(io::get_u64s(in, last_sums_.size()));
}

}  // namespace tarn
