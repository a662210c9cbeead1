#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tarn::analysis {

/// Several growing time series, each in 32 to 64 blocks of equal length: whether their second
/// halves are like their first ones, and like their beginning.
class Halves {
 public:
  /// For so many replicas: a series each, or shared by several, as in PooledBlocking.
  static Halves of_replicas(int replicas);

  /// One number of each replica that still runs, at one time.
  void add_replicas(std::span<const std::int64_t> ids, std::span<const double> values);

  /// How far the second half is from what was before.
  struct Shift {
    double mean = 0.0;  ///< of the second half less the other part, over the series
    /// The mean by its error, Student's t, as a normal number of the same probability (Wallace
    /// 1959, equation (65)); 0 where it is not known.
    double sigmas = 0.0;
  };
  /// From the first half, with the error from the spread of the series.
  /// @param error of the mean of all values, that tells where there are fewer than four series:
  /// that of the difference of the halves of all is twice as large; 0: not known
  Shift shift(double error) const;
  /// From the first eighth (Geweke 1992), with the error from the blocks of the second half: it
  /// sees a start that was forgotten soon, of few series too.
  Shift shift_from_start() const;

  /// All that it remembers, for a checkpoint.
  std::vector<double> memory() const;
  /// @throws LayoutError for what is no memory() of these
  void restore(std::span<const double> memory);

 private:
  struct Sum {
    double of_values = 0.0, weight = 0.0;
  };
  explicit Halves(std::size_t series) : series_(series), last_(series) {}
  /// Of a series, over blocks from begin to before end.
  Sum sum_of(std::size_t series, std::size_t begin, std::size_t end) const;

  std::size_t series_;
  std::int64_t length_ = 1;               // times in a block
  std::int64_t times_ = 0;                // in the last block, which is not whole
  std::vector<Sum> last_;                 // [series]
  std::vector<std::vector<Sum>> blocks_;  // [block][series]
};

}  // namespace tarn::analysis
