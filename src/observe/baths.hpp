#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/blocking.hpp"
#include "tarn/core/replica_map.hpp"
#include "tarn/observe/observers.hpp"

namespace tarn {

/// Groups the replicas of a run by the temperature of their bath; one group if all are equal.
class Baths {
 public:
  explicit Baths(const RunInfo& info);

  std::size_t size() const { return temperatures_K_.size(); }
  /// Baths are in ascending order; empty if all replicas have the same bath.
  std::optional<double> temperature_K(std::size_t bath) const {
    return several_ ? std::optional(temperatures_K_[bath]) : std::nullopt;
  }
  /// The bath of a replica, and its index among the replicas of this bath.
  std::size_t of(std::int64_t replica_id) const {
    return bath_of_[ReplicaMap(bath_of_.size()).place(replica_id)];
  }
  std::int64_t index_in_bath(std::int64_t replica_id) const;
  /// Number of replicas of each bath.
  const std::vector<int>& replicas() const { return replicas_; }
  /// Number of series of the averages of a bath.
  std::size_t series(std::size_t bath) const {
    return analysis::PooledBlocking::series_of_replicas(replicas_[bath], starts_);
  }
  /// Start structure of each series of the averages of a bath; -1: several. Empty if all replicas
  /// have the same.
  std::vector<int> starts(std::size_t bath) const;
  /// Replicas with the same id modulo groups() belong to the same bath and to the same series of
  /// its averages; see PooledBlocking::series_of_replicas().
  int groups() const { return groups_; }

 private:
  bool several_;
  int starts_, groups_;
  std::vector<double> temperatures_K_;
  std::vector<int> replicas_;
  // [replica of a ladder]; further ladders repeat it
  std::vector<std::size_t> bath_of_;
  std::vector<std::int64_t> index_in_ladder_;
  std::vector<std::int64_t> in_ladder_;  // [bath]
};

}  // namespace tarn
