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

/// Pair counts in groups of replicas and in blocks of time.
class RdfCounts {
 public:
  /// @param groups of replicas that are independent samples
  RdfCounts(const PairCountRequest& request, int molecules, int groups);

  /// [group][pair class][bin] and [group]: sums since the beginning, for whoever counts.
  std::vector<std::uint64_t> counts;
  std::vector<std::int64_t> samples;

  /// [pair class][bin] of one group.
  std::span<std::uint64_t> group(std::size_t g) {
    return std::span(counts).subspan(g * size_, size_);
  }

  /// Samples in a block now; end_block() is to be called at multiples of that.
  std::int64_t block_length() const { return blocks_.length(); }
  void end_block() { blocks_.add(pooled_counts(), pooled_samples()); }

  std::int64_t pooled_samples() const;
  /// What the table has of a class of pairs, bin by bin.
  struct Column {
    std::vector<std::uint64_t> counts;
    std::vector<double> g, err;
    /// Mean number of neighbours of an atom up to the end of the bin.
    std::vector<double> neighbours, neighbours_err;
  };
  /// @param from_groups errors by the spread of the groups; else blocks of time may raise them
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
  std::size_t size_;  // of a group
  TimeBlocks blocks_;
};

/// Whether the spread of that many replicas tells the error; with fewer, blocks of time do too.
bool errors_are_from_groups(std::int64_t replicas);

/// The table of one RdfCounts, or of those of several baths one below the other, after a first
/// column bath_K. @param path named in messages only @param baths_K of each table; or empty
std::string rdf_csv(const std::string& path, std::string_view provenance,
                    const PairCountRequest& request, bool from_groups,
                    std::span<const RdfCounts> tables, std::span<const double> baths_K = {});

/// "OO", "OH", "HH".
std::string_view pair_name(int pair_class);

}  // namespace tarn
