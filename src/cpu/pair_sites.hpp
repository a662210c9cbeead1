#pragma once

#include "pack_memory.hpp"

/// @file
/// Sites of molecules in pair precision.

namespace tarn::inline TARN_ARCH {
namespace {

/// Pair precision: the number type of the pair loop, and the construction of sites.
struct DoublePairs {
  using T = double;
  static constexpr int sub_blocks = 1;

  /// Sites of a molecule pack; parts[0] are its coordinates.
  template <bool kMSite>
  static TARN_HD void build(const double* const parts[], double m_weight, double* site) {
    const Triple<D> x = load_triple(parts[0]);
    const SiteOffsets<D> d = site_offsets<kMSite>(x, D(m_weight));
    store_vec3(x.o, site);
    store_vec3(d.h1, site + 6 * kLanes);
    store_vec3(d.h2, site + 9 * kLanes);
    if constexpr (kMSite) store_vec3(d.m, site + 12 * kLanes);
  }
};
struct MixedPairs {
  using T = float;
  static constexpr int sub_blocks = 2;

  template <bool kMSite>
  static TARN_HD void build(const double* const parts[], double m_weight, float* site) {
    constexpr int n = F::lanes;
    for (int half = 0; half < 2; ++half) {
      float* to = site + half * kLanes;
      const auto put = [&](const Vec3<D>& a, int c) {
        store_rounded(a.x, to + c * n);
        store_rounded(a.y, to + (c + 1) * n);
        store_rounded(a.z, to + (c + 2) * n);
      };
      const auto rest = [](const D& a) { return a - widened(rounded(a)); };
      const Triple<D> x = load_triple(parts[half]);
      const SiteOffsets<D> d = site_offsets<kMSite>(x, D(m_weight));
      put(x.o, 0);
      put({rest(x.o.x), rest(x.o.y), rest(x.o.z)}, 3);
      put(d.h1, 6);
      put(d.h2, 9);
      if constexpr (kMSite) put(d.m, 12);
    }
  }
};

/// @param vec3 vec3(c) loads components c, c + 1 and c + 2 (see cpu::kSiteComponents)
template <bool kMSite, class T, class Components>
TARN_HD PairSite<Pack<T>> site_of(const Components& vec3) {
  PairSite<Pack<T>> s;
  s.o = vec3(0);
  if constexpr (sizeof(T) == 4) s.o_low = vec3(3);
  s.d.h1 = vec3(6);
  s.d.h2 = vec3(9);
  if constexpr (kMSite) s.d.m = vec3(12);
  return s;
}
/// Loads a pack.
template <bool kMSite, class T>
TARN_HD PairSite<Pack<T>> load_site(const T* p) {
  return site_of<kMSite, T>([&](int c) { return load_vec3(p + c * Pack<T>::lanes); });
}
/// Broadcasts one lane of a pack to all lanes.
template <bool kMSite, class T>
TARN_HD PairSite<Pack<T>> broadcast_site(const T* p, int lane) {
  constexpr int n = Pack<T>::lanes;
  return site_of<kMSite, T>([&](int c) -> Vec3<Pack<T>> {
    return {Pack<T>(p[c * n + lane]), Pack<T>(p[(c + 1) * n + lane]),
            Pack<T>(p[(c + 2) * n + lane])};
  });
}

/// `yes` in the lanes of the mask, else `no`; without the low parts of mixed precision.
template <bool kMSite, class T>
TARN_HD PairSite<Pack<T>> select_site(const Mask<T>& mask, const PairSite<Pack<T>>& yes,
                                      const PairSite<Pack<T>>& no) {
  const auto vec3 = [&](const Vec3<Pack<T>>& a, const Vec3<Pack<T>>& b) -> Vec3<Pack<T>> {
    return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
  };
  PairSite<Pack<T>> s;
  s.o = vec3(yes.o, no.o);
  s.d.h1 = vec3(yes.d.h1, no.d.h1);
  s.d.h2 = vec3(yes.d.h2, no.d.h2);
  if constexpr (kMSite) s.d.m = vec3(yes.d.m, no.d.m);
  return s;
}
/// The vector in `some` lanes; in the others one for which all terms are finite.
template <class P>
TARN_HD Vec3<P> far_elsewhere(const Vec3<P>& r, const SomeLanes<P>& some) {
  const P far(static_cast<scalar_t<P>>(1e3));
  return {select(some.mask, r.x, far), select(some.mask, r.y, far), select(some.mask, r.z, far)};
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
