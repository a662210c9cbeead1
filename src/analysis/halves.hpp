#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.hpp"
#include "tarn/analysis/errors.hpp"

namespace tarn::analysis {

/// Test for equilibrium: compares the second half of several growing time series with the first
/// half and with the beginning. Each series is stored in 32 to 64 blocks of equal length.
class Halves {
 public:
  explicit Halves(std::size_t series = 1) : series_(series), last_(series) {}
  /// With one series per replica or, as in PooledBlocking, per several replicas.
  static Halves of_replicas(int replicas, int starts = 1);

  /// One number of each running replica, at one time.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);
  /// The numbers of each series at one time, given by their sums.
  void add_sums(std::span<const Moments> of_series);

  /// Difference between the second half and an earlier part.
  struct Shift {
    double mean = 0.0;  ///< of the second half minus the other part, over the series
    /// The mean divided by its error: Student's t as a normal deviate of the same probability
    /// (Wallace 1959, equation (65)); 0 if the error is unknown.
    double sigmas = 0.0;
  };
  /// Relative to the first half, with the error from the spread of the series.
  /// @param error of the mean of all values, used for fewer than four series: the error of the
  /// difference of the halves is twice as large; 0: unknown
  Shift shift(double error) const;
  /// Relative to the first eighth (Geweke 1992), with the error from the blocks of the second half.
  /// Detects a start that relaxes quickly, also in few series.
  Shift shift_from_start() const;

  /// The state for a checkpoint.
  void archive(Memory& m);
  std::vector<double> memory() const { return memory_of(*this); }
  void restore(std::span<const double> memory) { restore_from(memory, *this); }

 private:
  struct Sum {
    double of_values = 0.0, weight = 0.0;
  };
  void end_time();
  /// Of a series, over blocks from begin to before end.
  Sum sum_of(std::size_t series, std::size_t begin, std::size_t end) const;

  std::size_t series_;
  std::int64_t length_ = 1;               // times in a block
  std::int64_t times_ = 0;                // in the last block, which is not whole
  std::vector<Sum> last_;                 // [series]
  std::vector<std::vector<Sum>> blocks_;  // [block][series]
};

}  // namespace tarn::analysis
