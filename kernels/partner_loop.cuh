#pragma once

#include <type_traits>

#include "kernels/device_state.cuh"
#include "kernels/launch_kernel.hpp"

/// @file
/// Pairs of the molecules of a warp with those of a strip in shared memory, each pair computed
/// once. No two threads add to the same number, and all sums have a fixed order.

namespace tarn::gpu {

/// A site in shared or device memory: oxygen, its low part with pairs in float, and the offsets of
/// H1, H2 and M. It is read in loads of 16 bytes. A site has an odd number of 16-byte units, so
/// that eight neighbouring sites lie in different banks.
template <class R, bool kMSite>
struct alignas(16) PackedSite {
  static constexpr int kVectors = 3 + (std::is_same_v<R, float> ? 1 : 0) + (kMSite ? 1 : 0);
  static constexpr int kUnits = ((3 * kVectors * static_cast<int>(sizeof(R)) + 15) / 16) | 1;
  R c[kUnits * 16 / static_cast<int>(sizeof(R))];

  __device__ Vec3<R> vector(int k) const { return {c[3 * k], c[3 * k + 1], c[3 * k + 2]}; }
  __device__ void put(int k, const Vec3<R>& v) { store_vector(v, c, 1, 3 * k); }
};

/// Conversions of scalars, for make_site.
struct PlainNumbers {
  using Double = double;
  using Float = float;
  __device__ static float to_float(double value) { return static_cast<float>(value); }
  __device__ static double to_double(float value) { return static_cast<double>(value); }
};

template <class R, bool kMSite>
__device__ inline PairSite<R> unpacked(const PackedSite<R, kMSite>& p) {
  PairSite<R> s{};
  int k = 0;
  s.o = p.vector(k++);
  if constexpr (std::is_same_v<R, float>) s.o_low = p.vector(k++);
  s.d.h1 = p.vector(k++);
  s.d.h2 = p.vector(k++);
  if constexpr (kMSite) s.d.m = p.vector(k++);
  return s;
}
template <class R, bool kMSite>
__device__ inline PackedSite<R, kMSite> packed(const PairSite<R>& s) {
  PackedSite<R, kMSite> p{};
  int k = 0;
  p.put(k++, s.o);
  if constexpr (std::is_same_v<R, float>) p.put(k++, s.o_low);
  p.put(k++, s.d.h1);
  p.put(k++, s.d.h2);
  if constexpr (kMSite) p.put(k++, s.d.m);
  return p;
}

/// The vector of another lane. All lanes of a warp call.
template <class T>
__device__ inline Vec3<T> from_lane(const Vec3<T>& a, int lane) {
  constexpr unsigned all = 0xffffffffu;
  return {__shfl_sync(all, a.x, lane), __shfl_sync(all, a.y, lane), __shfl_sync(all, a.z, lane)};
}

/// Butterfly sum over groups of 2 `half` neighbouring lanes, a power of two; the same in all lanes
/// of a group. All lanes of a warp call.
template <class T>
__device__ inline Vec3<T> sum_over_lanes(Vec3<T> a, int half) {
  for (int o = half; o > 0; o /= 2) {
    a.x += __shfl_xor_sync(0xffffffffu, a.x, o);
    a.y += __shfl_xor_sync(0xffffffffu, a.y, o);
    a.z += __shfl_xor_sync(0xffffffffu, a.z, o);
  }
  return a;
}
template <class T>
__device__ inline Vec3<T> sum_over_warp(const Vec3<T>& a) {
  return sum_over_lanes(a, kWarpLanes / 2);
}

/// Forces of the pairs of a warp with a strip, in pair precision: sums of up to 32 terms.
template <class R>
struct Meeting {
  SiteForces<R> own;      ///< on the molecule of the lane
  SiteForces<R> partner;  ///< on the partner of the lane in the turn after the last one
};
/// Forces of the pairs with the molecules of a strip, `sites`, in some turns. The sum of the forces
/// on a partner moves from lane to lane with it. All lanes of a warp call.
/// @param size molecules per strip
/// @param count molecules of this strip; further sites must be finite and are ignored
/// @param before pairs of this lane count only in turns before this one
template <class R, bool kMSite>
__device__ inline Meeting<R> meet_strip(const PairParameters<R>& pair, const PairSite<R>& own,
                                        const PackedSite<R, kMSite>* sites, int size, int count,
                                        const Range& turns, int before) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes, next = next_lane(lane, size);
  Meeting<R> f{no_site_forces<R>(), no_site_forces<R>()};
  // A lane without a molecule computes pairs that do not count.
  int j = lane < size ? partner_of_turn(lane, turns.first, size) : 0;
  for (int turn = turns.first; turn < turns.last; ++turn) {
    const PairSite<R> other = unpacked(sites[j]);
    const bool counts = j < count && turn < before;
    const Vec3<R> r = no_force_unless(counts, oxygen_vector(own, other));
    add_pair_forces<kMSite>(pair, r, own.d, other.d, AllLanes{}, f.own, f.partner);
    f.partner.o = from_lane(f.partner.o, next);
    f.partner.h1 = from_lane(f.partner.h1, next);
    f.partner.h2 = from_lane(f.partner.h2, next);
    if constexpr (kMSite) f.partner.m = from_lane(f.partner.m, next);
    j = j + 1 == size ? 0 : j + 1;
  }
  return f;
}

/// Strips in shared memory whose molecules form pairs with each other: a cluster or one of its
/// bands.
template <class S, class R, bool kMSite>
struct SharedStrips {
  const PackedSite<R, kMSite>* sites;  ///< [strip][lane]
  int molecules, strips;
  int size;   ///< molecules per strip
  S* rows;    ///< [9][width]: forces on partners
  int width;  ///< of a row: all lanes of all strips
};
/// Adds the forces of some turns between the strips to the force f on a thread's molecule, in lane
/// `lane` of strip `strip`. All threads of a row of the block call with the same turns and `rows`;
/// a warp has one strip, and together they have all strips. All sites must be finite.
template <class S, class R, bool kMSite>
__device__ inline void add_meetings(const PairParameters<R>& pair, S m_weight,
                                    const SharedStrips<S, R, kMSite>& shared, int strip, int lane,
                                    const Range& turns, Triple<S>& f) {
  const int strips = shared.strips, size = shared.size, i = kStrip * strip + lane;
  const bool has_lane = lane < size, there = has_lane && strip * size + lane < shared.molecules;
  for (int round = 0; round <= rounds(strips); ++round) {
    const StripMeeting with = strip_meeting(strip, round, strips, size, turns);
    const bool any = strip < strips && with.turns.first < with.turns.last;
    if (any) {
      const int first = kStrip * with.partner;
      const int before = there ? turns_to_meet(lane, round, size) : 0;
      const Meeting<R> g = meet_strip(pair, unpacked(shared.sites[i]), shared.sites + first, size,
                                      shared.molecules - with.partner * size, with.turns, before);
      f = f + forces_on_atoms<kMSite>(as_sums<PlainNumbers, S>(g.own), m_weight);
      if (has_lane) {
        store_triple(forces_on_atoms<kMSite>(as_sums<PlainNumbers, S>(g.partner), m_weight),
                     shared.rows, shared.width,
                     first + partner_of_turn(lane, with.turns.last, size));
      }
    }
    sync_row();
    if (any && has_lane) f = f + load_triple<S>(shared.rows, shared.width, i);
    sync_row();
  }
}

inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Clusters in the lanes of a warp, one molecule per lane; the part of the interface of
/// cluster_program.hpp that forces need.
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
