#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

namespace tarn {

/// Splits growing sums into at most 64 blocks of time of equal length.
///
/// It starts with blocks of one sample. When 64 are full, neighbours are merged and the blocks
/// become twice as long, so that a run of any length has 32 to 64 of them, they are a function of
/// the samples only, and the number of times that the sums are asked for grows with the logarithm
/// of the run's length.
class TimeBlocks {
 public:
  static constexpr std::size_t kMost = 64;

  /// @param values how many sums are split
  explicit TimeBlocks(std::size_t values) : last_sums_(values, 0) {}

  /// Sampling intervals in a block now; add() is to be called at multiples of that.
  std::int64_t length() const { return length_; }
  /// Ends a block. @param sums since the start; @param samples in them; without new samples there
  /// is no block
  void add(std::span<const std::uint64_t> sums, std::int64_t samples);

  std::size_t size() const { return samples_.size(); }
  /// Sum number `value` in each block, and the samples in it. Blocks with less than half as many
  /// samples as the fullest are left out: they begin in the middle, or most of their replicas were
  /// stopped.
  std::vector<double> sums(std::size_t value) const;
  std::vector<double> samples() const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  void merge_neighbours();
  std::vector<std::size_t> full_enough() const;

  std::int64_t length_ = 1;
  std::vector<std::uint64_t> last_sums_;
  std::int64_t last_samples_ = 0;
  std::vector<std::vector<std::uint64_t>> sums_;  // [block][value]
  std::vector<std::int64_t> samples_;             // [block]
};

}  // namespace tarn
