#pragma once

#include <cstddef>
#include <cstdint>

#include "tarn/core/host_device.hpp"

/// @file
/// The temperature, the ladder and the sample group of a replica. Replica ids are divided here
/// only.

namespace tarn::inline TARN_ARCH {

/// The sample group of a replica: its moments, pair counts and averages are those of the replicas
/// with the same id modulo the number of groups. Ladders take their start structures in this way
/// too.
template <class Id, class Groups>
TARN_HD constexpr Groups sample_group(Id id, Groups groups) {
  return static_cast<Groups>(id % static_cast<Id>(groups));
}

/// Replicas take the temperatures of a list in turn. One replica of each is a ladder.
class ReplicaMap {
 public:
  /// @param temperatures at least 1
  constexpr explicit ReplicaMap(std::size_t temperatures) : size_(temperatures) {}

  /// Index of the replica's temperature in the list.
  template <class Id>
  constexpr std::size_t place(Id id) const {
    return static_cast<std::size_t>(id) % size_;
  }
  /// Number of the replica's ladder.
  template <class Id>
  constexpr std::int64_t ladder(Id id) const {
    return static_cast<std::int64_t>(static_cast<std::size_t>(id) / size_);
  }

 private:
  std::size_t size_;
};

}  // namespace tarn::inline TARN_ARCH
