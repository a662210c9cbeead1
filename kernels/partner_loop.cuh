#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/device_state.cuh"

/// @file
/// The forces on one molecule from a range of partners that lie in shared memory. Each pair is
/// computed from both sides: no two threads add to the same number, and the order of the sum is
/// that of the partners.

namespace tarn::gpu {

/// A site in shared or device memory: oxygen, its low part with pairs in float, offsets of H1, H2
/// and M. Numbers that are read together lie side by side, so that they come 16 bytes at a time.
template <class R, bool kMSite>
struct alignas(16) PackedSite {
  static constexpr int kVectors = 3 + (std::is_same_v<R, float> ? 1 : 0) + (kMSite ? 1 : 0);
  R c[3 * kVectors];

  __device__ Vec3<R> vector(int k) const { return {c[3 * k], c[3 * k + 1], c[3 * k + 2]}; }
  __device__ void put(int k, const Vec3<R>& v) {
    c[3 * k] = v.x;
    c[3 * k + 1] = v.y;
    c[3 * k + 2] = v.z;
  }
};

/// How plain numbers are converted, for make_site.
struct PlainNumbers {
  using Double = double;
  using Float = float;
  __device__ static float to_float(double value) { return static_cast<float>(value); }
  __device__ static double to_double(float value) { return static_cast<double>(value); }
};

template <class R, bool kMSite>
__device__ inline ClusterSite<R> unpacked(const PackedSite<R, kMSite>& p) {
  ClusterSite<R> s{};
  int k = 0;
  s.o = p.vector(k++);
  if constexpr (std::is_same_v<R, float>) s.o_low = p.vector(k++);
  s.d.h1 = p.vector(k++);
  s.d.h2 = p.vector(k++);
  if constexpr (kMSite) s.d.m = p.vector(k++);
  return s;
}
template <class R, bool kMSite>
__device__ inline PackedSite<R, kMSite> packed(const ClusterSite<R>& s) {
  PackedSite<R, kMSite> p{};
  int k = 0;
  p.put(k++, s.o);
  if constexpr (std::is_same_v<R, float>) p.put(k++, s.o_low);
  p.put(k++, s.d.h1);
  p.put(k++, s.d.h2);
  if constexpr (kMSite) p.put(k++, s.d.m);
  return p;
}

/// Sums of floats begin anew after so many partners, and go into the sum of all.
inline constexpr int kPartnersInFloat = 32;

template <class S>
__device__ inline void add_chunk(const SiteForces<float>& f, SiteForces<S>& sum) {
  const auto add = [](const Vec3<float>& from, Vec3<S>& to) {
    to.x += static_cast<S>(from.x);
    to.y += static_cast<S>(from.y);
    to.z += static_cast<S>(from.z);
  };
  add(f.o, sum.o);
  add(f.h1, sum.h1);
  add(f.h2, sum.h2);
  add(f.m, sum.m);
}

/// Adds the forces on `own` from shared partners first .. last - 1, without number `self`.
template <class R, bool kMSite, class S>
__device__ inline void add_partners(const PairParameters<R>& pair, const ClusterSite<R>& own,
                                    const PackedSite<R, kMSite>* sites, int first, int last,
                                    int self, SiteForces<S>& sum) {
  constexpr bool floats = std::is_same_v<R, float>;
  const auto add = [&](int j, SiteForces<R>& f) {
    const ClusterSite<R> other = unpacked(sites[j]);
    const Vec3<R> r = no_force_unless(j != self, oxygen_vector<R, floats>(own, other));
    // What the partner feels is its own thread's business: never used, never computed.
    SiteForces<R> ignored = no_site_forces<R>();
    add_pair_forces<kMSite>(pair, r, own.d, other.d, AllLanes{}, f, ignored);
  };
  if constexpr (floats) {
    for (int chunk = first; chunk < last; chunk += kPartnersInFloat) {
      const int end = chunk + kPartnersInFloat < last ? chunk + kPartnersInFloat : last;
      SiteForces<R> f = no_site_forces<R>();
      for (int j = chunk; j < end; ++j) add(j, f);
      add_chunk(f, sum);
    }
  } else {
    // No sums of their own, which would take registers.
    for (int j = first; j < last; ++j) add(j, sum);
  }
}

}  // namespace tarn::gpu
