#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/device_state.cuh"

/// @file
/// The forces on one molecule from a range of partners that lie in shared memory. Each pair is
/// computed from both sides: no two threads add to the same number, and the order of the sum is
/// that of the partners.

namespace tarn::gpu {

/// Sites of molecules in shared or device memory, [component][molecule]: oxygen, its low part with
/// pairs in float, offsets of H1, H2 and M. Components are `stride` apart.
inline constexpr int kSiteComponents = 15;

template <class R, class Index = int>
struct SiteArray {
  R* data;
  Index stride;

  __device__ Vec3<R> vector(int component, Index molecule) const {
    const R* p = data + component * stride + molecule;
    return {p[0], p[stride], p[2 * stride]};
  }
  __device__ void put(int component, Index molecule, const Vec3<R>& v) const {
    R* p = data + component * stride + molecule;
    p[0] = v.x;
    p[stride] = v.y;
    p[2 * stride] = v.z;
  }
};

/// How plain numbers are converted, for make_site.
struct PlainNumbers {
  using Double = double;
  using Float = float;
  __device__ static float to_float(double value) { return static_cast<float>(value); }
  __device__ static double to_double(float value) { return static_cast<double>(value); }
};

template <class R, bool kMSite, class Index>
__device__ inline ClusterSite<R> load_site(const SiteArray<R, Index>& sites, Index molecule) {
  ClusterSite<R> s{};
  s.o = sites.vector(0, molecule);
  if constexpr (std::is_same_v<R, float>) s.o_low = sites.vector(3, molecule);
  s.d.h1 = sites.vector(6, molecule);
  s.d.h2 = sites.vector(9, molecule);
  if constexpr (kMSite) s.d.m = sites.vector(12, molecule);
  return s;
}
template <class R, bool kMSite, class Index>
__device__ inline void store_site(const ClusterSite<R>& s, const SiteArray<R, Index>& sites,
                                  Index molecule) {
  sites.put(0, molecule, s.o);
  if constexpr (std::is_same_v<R, float>) sites.put(3, molecule, s.o_low);
  sites.put(6, molecule, s.d.h1);
  sites.put(9, molecule, s.d.h2);
  if constexpr (kMSite) sites.put(12, molecule, s.d.m);
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
                                    const SiteArray<R>& sites, int first, int last, int self,
                                    SiteForces<S>& sum) {
  constexpr bool floats = std::is_same_v<R, float>;
  const auto add = [&](int j, SiteForces<R>& f) {
    const ClusterSite<R> other = load_site<R, kMSite>(sites, j);
    const SomeLanes<R> counts{j != self};
    Vec3<R> r = oxygen_vector<R, floats>(own, other);
    r.x = select(counts.mask, r.x, R(1e3));
    // What the partner feels is its own thread's business: never used, never computed.
    SiteForces<R> ignored = no_site_forces<R>();
    add_pair_forces<kMSite>(pair, r, own.d, other.d, counts, f, ignored);
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
