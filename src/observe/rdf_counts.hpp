#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/engine.hpp"
#include "time_blocks.hpp"

namespace tarn {

/// Pair counts in groups of replicas and in blocks of time, and the table that they become.
class RdfCounts {
 public:
  RdfCounts(const PairCountRequest& request, int molecules);

  /// [group][pair class][bin] and [group]: sums since the beginning, for whoever counts.
  std::vector<std::uint64_t> counts;
  std::vector<std::int64_t> samples;

  /// [pair class][bin] of one group.
  std::span<std::uint64_t> group(std::size_t g) {
    return std::span(counts).subspan(g * size_, size_);
  }

  /// Whether that many replicas give the error by their spread; with fewer, blocks of time do.
  static bool uses_groups(std::int64_t replicas);
  /// Samples in a block now; end_block() is to be called at multiples of that.
  std::int64_t block_length() const { return blocks_.length(); }
  void end_block() { blocks_.add(pooled_counts(), pooled_samples()); }

  std::int64_t pooled_samples() const;
  /// rdf.csv. @param path named in messages only
  std::string csv(const std::string& path, std::string_view provenance,
                  std::int64_t replicas) const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  struct Column {
    std::vector<std::uint64_t> counts;
    std::vector<double> g, err;
  };

  std::vector<std::uint64_t> pooled_counts() const;
  double count_error(std::size_t value, bool from_groups) const;
  Column column_of(std::size_t pair_class, bool from_groups) const;

  PairCountRequest request_;
  int molecules_;
  std::size_t bins_;
  std::size_t size_;  // of a group
  TimeBlocks blocks_;
};

/// "OO", "OH", "HH".
std::string_view pair_name(int pair_class);

}  // namespace tarn
