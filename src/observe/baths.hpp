#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tarn/observe/observers.hpp"

namespace tarn {

/// The replicas of a run by the temperature of their bath; one group where all have the same.
class Baths {
 public:
  explicit Baths(const RunInfo& info);

  std::size_t size() const { return temperatures_K_.size(); }
  /// Rising with the number of the bath; nothing where all replicas have the same.
  std::optional<double> temperature_K(std::size_t bath) const;
  /// The bath of a replica, and which one of that bath's replicas it is: 0, 1, ...
  std::size_t of(std::int64_t replica_id) const;
  std::int64_t place(std::int64_t replica_id) const;
  /// How many replicas each has.
  const std::vector<int>& replicas() const { return replicas_; }

 private:
  bool several_;
  std::vector<double> temperatures_K_;
  std::vector<int> replicas_;
  // Of the replicas of one ladder; it is repeated.
  std::vector<std::size_t> bath_of_;
  std::vector<std::int64_t> place_in_ladder_;
  std::vector<std::int64_t> in_ladder_;  // [bath]
};

}  // namespace tarn
