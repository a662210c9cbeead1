#pragma once

#include "kernels/partner_loop.cuh"

/// @file
/// Clusters in the lanes of a warp, one molecule per lane; the part of the interface of
/// cluster_program.hpp that forces need.

namespace tarn::gpu {

inline constexpr unsigned kAllLanes = 0xffffffffu;

class WarpLanes : public PlainNumbers {
 public:
  using Index = int;

  /// @param molecule of this lane, within its cluster; -1: none
  __device__ WarpLanes(int lane, int molecule, int molecules)
      : lane_(lane), molecule_(molecule), molecules_(molecules) {
    const int lanes = cluster_lanes(molecules);
    halves_ = is_power_of_two(lanes) ? lanes / 2 : -1;
  }

  __device__ int rounds() const { return gpu::rounds(molecules_); }
  template <class T>
  __device__ T shuffle(T value, int from) const {
    return __shfl_sync(kAllLanes, value, from);
  }
  __device__ int partner(int k) const { return partner_lane(lane_, molecule_, k, molecules_); }
  __device__ int meeting(int k) const { return meeting_lane(lane_, molecule_, k, molecules_); }
  __device__ int first() const { return molecule_ < 0 ? lane_ : lane_ - molecule_; }
  template <class R>
  __device__ bool pair(int k) const {
    return meets(molecule_, k, molecules_);
  }
  template <class T>
  __device__ Vec3<T> sum(Vec3<T> a) const {
    if (halves_ >= 0) {
      if (molecule_ < 0) a = {T(0), T(0), T(0)};
      return sum_over_lanes(a, halves_);
    }
    for (int o = first_offset(molecules_); o > 0; o /= 2) {
      const Vec3<T> other = from_lane(a, lane_ + o);
      if (adds(molecule_, o, molecules_)) a = a + other;
    }
    return from_lane(a, first());
  }

 protected:
  int lane_, molecule_, molecules_;

 private:
  int halves_;  ///< first offset of butterfly sums, -1 if the lanes are no power of two
};

}  // namespace tarn::gpu
