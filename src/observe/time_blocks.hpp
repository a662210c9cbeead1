#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

namespace tarn {

/// Splits cumulative sums into at most 64 time blocks of equal length.
///
/// Blocks start with one sample. When 64 are full, neighbours are merged and the block length
/// doubles. A run of any length therefore has 32 to 64 blocks that depend only on the samples, and
/// the number of add() calls grows with the logarithm of the length of the run.
class TimeBlocks {
 public:
  static constexpr std::size_t kMost = 64;

  /// @param values number of sums
  explicit TimeBlocks(std::size_t values) : last_sums_(values, 0) {}

  /// Current block length in samples; call add() at multiples of it.
  std::int64_t length() const { return length_; }
  /// Ends a block; ignored without new samples. @param sums since the start @param samples in
  /// `sums`
  void add(std::span<const std::uint64_t> sums, std::int64_t samples);

  std::size_t size() const { return samples_.size(); }
  /// Sum number `value` and number of samples of each block. Blocks with less than half the samples
  /// of the fullest are ignored: they are incomplete, or most replicas were stopped.
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
