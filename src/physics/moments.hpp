#pragma once

#include <cstdint>

#include "tarn/core/host_device.hpp"

/// @file
/// Sums over the replicas of a group, in an order that depends on the replica ids only. Replica id
/// belongs to a sample group and, within it, to one of 32 lanes. The numbers of a lane
/// are added in ascending order of the ids; then lane l adds lane l + 16, l + 8, ... l + 1.

namespace tarn::inline TARN_ARCH {

inline constexpr int kMomentLanes = 32;

TARN_HD constexpr int moment_lane(std::int64_t replica_id, int groups) {
  return static_cast<int>(replica_id / groups % kMomentLanes);
}

/// Sums of one number x over replicas, relative to a pivot p close to its mean, and of its product
/// with another number y, relative to a pivot of its own.
struct MomentSums {
  double sum = 0.0;      ///< of x - p
  double square = 0.0;   ///< of (x - p)^2
  double product = 0.0;  ///< of (x - p)(y - q)

  TARN_HD void add(double x_off, double y_off) {
    sum += x_off;
    square += x_off * x_off;
    product += x_off * y_off;
  }
  TARN_HD void add(const MomentSums& other) {
    sum += other.sum;
    square += other.square;
    product += other.product;
  }
};

}  // namespace tarn::inline TARN_ARCH
