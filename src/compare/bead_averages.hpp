#pragma once

#include <string>
#include <vector>

#include "observe/ring_columns.hpp"
#include "tarn/analysis/blocking.hpp"
#include "tarn/compare.hpp"
#include "tarn/deck.hpp"

/// @file
/// Averages of ring polymers in a comparison.

namespace tarn {

/// The columns of path_integral.csv with a limit for many beads.
const std::vector<RingColumn>& bead_columns();

/// Averages of the columns of path_integral.csv over all replicas and samples.
class BeadAverages {
 public:
  explicit BeadAverages(int replicas);

  /// @param frame with kRings
  void add(const Frame& frame);
  /// @param interval_ps between samples
  std::vector<AveragedQuantity> result(double interval_ps) const;

 private:
  std::vector<analysis::PooledBlocking> means_;
};

/// Extrapolates the averages of each curve to infinitely many beads, without those of one bead.
/// Only Trotter frequencies have such a limit curve.
/// @param curve_labels of each scheme of the result; equal labels differ in the number of beads
std::vector<SchemeBeadLimit> bead_limits(const std::vector<SchemeResult>& schemes,
                                         const std::vector<std::string>& curve_labels);

}  // namespace tarn
