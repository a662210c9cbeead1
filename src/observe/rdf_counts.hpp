#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive.hpp"
#include "tarn/engine.hpp"

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

  void archive(io::Archive& a);

 private:
  std::vector<std::size_t> full_enough() const;

  std::int64_t length_ = 1;
  std::vector<std::uint64_t> last_sums_;
  std::int64_t last_samples_ = 0;
  std::vector<std::vector<std::uint64_t>> sums_;  // [block][value]
  std::vector<std::int64_t> samples_;             // [block]
};

/// Pair counts in groups of replicas and in time blocks.
class RdfCounts {
 public:
  /// @param groups number of replica groups, which are independent samples
  RdfCounts(const PairCountRequest& request, int molecules, int groups);

  /// [group][pair class][bin] and [group]: sums since the start, updated by the caller.
  std::vector<std::uint64_t> counts;
  std::vector<std::int64_t> samples;

  /// Counts of one group, [pair class][bin].
  std::span<std::uint64_t> group(std::size_t g) {
    return std::span(counts).subspan(g * size_, size_);
  }

  /// Current number of samples per block; call end_block() at multiples of it.
  std::int64_t block_length() const { return blocks_.length(); }
  void end_block() { blocks_.add(pooled_counts(), pooled_samples()); }

  std::int64_t pooled_samples() const {
    return std::accumulate(samples.begin(), samples.end(), std::int64_t{0});
  }
  /// Table columns of a pair class, [bin].
  struct Column {
    std::vector<std::uint64_t> counts;
    std::vector<double> g, err;
    /// Running coordination number up to the upper edge of the bin.
    std::vector<double> neighbours, neighbours_err;
  };
  /// @param from_groups errors from the spread of the groups; otherwise time blocks may raise them
  Column column_of(std::size_t pair_class, bool from_groups) const;

  void archive(io::Archive& a) {
    a.fixed(counts, samples);
    a(blocks_);
  }

 private:
  std::vector<std::uint64_t> pooled_counts() const;
  std::vector<double> parts(std::size_t value, bool from_groups) const;
  double error_of(std::span<const double> parts, std::span<const double> part_samples,
                  bool from_groups) const;

  int molecules_;
  std::size_t bins_;
  std::size_t size_;  // per group
  TimeBlocks blocks_;
};

/// Whether the errors come from the spread of this many replicas; with fewer, time blocks also
/// count.
bool errors_are_from_groups(std::int64_t replicas);

/// The table of one RdfCounts, or those of several baths one below the other with a first column
/// bath_K. @param path for messages only @param baths_K bath of each table, or empty
std::string rdf_csv(const std::string& path, std::string_view provenance,
                    const PairCountRequest& request, bool from_groups,
                    std::span<const RdfCounts> tables, std::span<const double> baths_K = {});

/// "OO", "OH", "HH".
std::string_view pair_name(int pair_class);

}  // namespace tarn
