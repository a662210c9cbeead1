#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "io/archive.hpp"
#include "tarn/analysis/errors.hpp"

namespace tarn {

/// Energy drift: slope of a line fitted to the energy of each replica against time. The fit uses
/// the means of 16 to 31 blocks of equal length; memory does not grow with the run.
class EnergyDrift {
 public:
  /// Adds a sample; intervals must be equal. @param values energies of the live replicas `ids`
  void add(std::span<const std::int64_t> ids, std::span<const double> values);

  struct Result {
    /// Slope per sampling interval and replica. With several replicas, the error is that of their
    /// mean; with one, it follows from the scatter and correlation of the blocks about the line.
    analysis::MeanError slope;
    std::int64_t replicas = 0;
    bool converged = true;  ///< false: the error is a lower bound
  };
  /// Result for the replicas of the last sample; empty with fewer than three full blocks. Samples
  /// after the last full block are ignored.
  std::optional<Result> result() const;

  void archive(io::Archive& a) { a(length_, samples_, last_ids_, of_replica_); }

 private:
  static constexpr std::size_t kMost = 32;
  struct Sums {
    double first = 0.0;          // first value, subtracted to avoid cancellation
    std::vector<double> sums{};  // [block]; the last may be incomplete

    void archive(io::Archive& a) { a(first, sums); }
  };

  std::size_t full_blocks() const { return static_cast<std::size_t>(samples_ / length_); }

  std::int64_t length_ = 1;  // samples per block
  std::int64_t samples_ = 0;
  std::vector<std::int64_t> last_ids_;
  std::map<std::int64_t, Sums> of_replica_;
};

}  // namespace tarn
