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

  std::int64_t pooled_samples() const;
  /// Table columns of a pair class, [bin].
  struct Column {
    std::vector<std::uint64_t> counts;
    std::vector<double> g, err;
    /// Running coordination number up to the upper edge of the bin.
    std::vector<double> neighbours, neighbours_err;
  };
  /// @param from_groups errors from the spread of the groups; otherwise time blocks may raise them
  Column column_of(std::size_t pair_class, bool from_groups) const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

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
