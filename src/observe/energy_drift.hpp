#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "tarn/analysis/errors.hpp"

namespace tarn {

/// The slope of a straight line through the energy of each replica against time, from the means of
/// 16 to 31 blocks of equal length, so that memory does not grow with the run.
class EnergyDrift {
 public:
  /// Samples come at equal intervals. @param values as long as `ids`; those that are still there
  void add(std::span<const std::int64_t> ids, std::span<const double> values);

  struct Result {
    /// Per sampling interval, of one replica. The error of several is that of their mean; of one it
    /// is that of the line from the scatter of the blocks about it, with their correlation.
    analysis::MeanError slope;
    std::int64_t replicas = 0;
    bool converged = true;  ///< false: the error is a lower bound
  };
  /// Of the replicas that came last; nothing with fewer than three full blocks. Samples after the
  /// last full block are left out.
  std::optional<Result> result() const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  static constexpr std::size_t kMost = 32;
  struct Sums {
    double first = 0.0;          // is taken off, so that no digits are lost
    std::vector<double> sums{};  // [block]; the last one may not be full
  };

  std::size_t full_blocks() const;

  std::int64_t length_ = 1;  // of a block
  std::int64_t samples_ = 0;
  std::vector<std::int64_t> last_ids_;
  std::map<std::int64_t, Sums> of_replica_;
};

}  // namespace tarn
