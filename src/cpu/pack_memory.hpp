#pragma once

#include "core/pack.hpp"
#include "kernel_table.hpp"
#include "physics/pair_force.hpp"
#include "steps/single.hpp"

/// @file
/// Loads and stores of packs of molecules, sites and forces, and sums over a cluster.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::kFixedComponents;
using cpu::kSiteComponents;
using cpu::kSiteForceComponents;

using D = Pack<double>;
using F = Pack<float>;
using U = Pack<std::uint32_t>;
inline constexpr int kLanes = D::lanes;

template <class T>
TARN_HD Vec3<Pack<T>> load_vec3(const T* p) {
  constexpr int n = Pack<T>::lanes;
  return {Pack<T>::load(p), Pack<T>::load(p + n), Pack<T>::load(p + 2 * n)};
}
template <class T>
TARN_HD void store_vec3(const Vec3<Pack<T>>& a, T* p) {
  constexpr int n = Pack<T>::lanes;
  a.x.store(p);
  a.y.store(p + n);
  a.z.store(p + 2 * n);
}
template <class T>
TARN_HD Triple<Pack<T>> load_triple(const T* p) {
  constexpr int n = 3 * Pack<T>::lanes;
  return {load_vec3(p), load_vec3(p + n), load_vec3(p + 2 * n)};
}
template <class T>
TARN_HD void store_triple(const Triple<Pack<T>>& a, T* p) {
  constexpr int n = 3 * Pack<T>::lanes;
  store_vec3(a.o, p);
  store_vec3(a.h1, p + n);
  store_vec3(a.h2, p + 2 * n);
}
/// Offset of the nine coordinates of pack p.
template <class P = D>
TARN_HD std::ptrdiff_t nine_at(int p) {
  return static_cast<std::ptrdiff_t>(p) * 9 * P::lanes;
}
TARN_HD std::ptrdiff_t fixed_at(int p) {
  return static_cast<std::ptrdiff_t>(p) * kFixedComponents * F::lanes;
}
TARN_HD FixedPosition<U> load_fixed(const std::uint32_t* x, int p) {
  const std::uint32_t* at = x + fixed_at(p);
  return {load_vec3(at), load_triple(at + 3 * F::lanes)};
}
TARN_HD void store_fixed(const FixedPosition<U>& q, std::uint32_t* x, int p) {
  std::uint32_t* at = x + fixed_at(p);
  store_vec3(q.cell, at);
  store_triple(q.x, at + 3 * F::lanes);
}
TARN_HD void widen(const Triple<F>& a, Triple<D> (&out)[2]) {
  widen(a.o, out[0].o, out[1].o);
  widen(a.h1, out[0].h1, out[1].h1);
  widen(a.h2, out[0].h2, out[1].h2);
}
/// Widens one half of the lanes; `a` is in memory.
TARN_HD Triple<D> widened_half(const Triple<F>& a, int half) {
  const auto lanes = [&](const F& of) {
    return load_widened(reinterpret_cast<const float*>(&of) + half * kLanes);
  };
  const auto vec3 = [&](const Vec3<F>& of) -> Vec3<D> {
    return {lanes(of.x), lanes(of.y), lanes(of.z)};
  };
  return {vec3(a.o), vec3(a.h1), vec3(a.h2)};
}
template <bool kMSite, class T>
TARN_HD SiteForces<Pack<T>> load_site_forces(const T* p) {
  constexpr int n = 3 * Pack<T>::lanes;
  SiteForces<Pack<T>> f{load_vec3(p), load_vec3(p + n), load_vec3(p + 2 * n), {}};
  if constexpr (kMSite) f.m = load_vec3(p + 3 * n);
  return f;
}
template <bool kMSite, class T>
TARN_HD void store_site_forces(const SiteForces<Pack<T>>& f, T* p) {
  constexpr int n = 3 * Pack<T>::lanes;
  store_vec3(f.o, p);
  store_vec3(f.h1, p + n);
  store_vec3(f.h2, p + 2 * n);
  if constexpr (kMSite) store_vec3(f.m, p + 3 * n);
}
template <bool kMSite, class P>
TARN_HD void add(const SiteForces<P>& f, SiteForces<P>& sum) {
  sum.o = sum.o + f.o;
  sum.h1 = sum.h1 + f.h1;
  sum.h2 = sum.h2 + f.h2;
  if constexpr (kMSite) sum.m = sum.m + f.m;
}
/// Zeroes the forces outside some lanes.
template <bool kMSite, class P>
TARN_HD void keep_lanes(const SomeLanes<P>& some, SiteForces<P>& f) {
  const auto keep = [&](Vec3<P>& a) { a = {some.keep(a.x), some.keep(a.y), some.keep(a.z)}; };
  keep(f.o);
  keep(f.h1);
  keep(f.h2);
  if constexpr (kMSite) keep(f.m);
}
/// Converts forces from pair precision to double.
template <bool kMSite>
TARN_HD void to_double(const SiteForces<D>& f, SiteForces<D> (&out)[1]) {
  out[0] = f;
}
template <bool kMSite>
TARN_HD void to_double(const SiteForces<F>& f, SiteForces<D> (&out)[2]) {
  widen(f.o, out[0].o, out[1].o);
  widen(f.h1, out[0].h1, out[1].h1);
  widen(f.h2, out[0].h2, out[1].h2);
  if constexpr (kMSite) widen(f.m, out[0].m, out[1].m);
}

/// Adds the first `lanes` lanes of a pack one by one, so that a sum over molecules has the same
/// order whether they are packs or lanes.
template <class T>
TARN_HD void add_in_order(const Pack<T>& a, int lanes, T& sum) {
  for (int l = 0; l < lanes; ++l) sum += a[l];
}
template <class T>
TARN_HD void add_in_order(const Vec3<Pack<T>>& a, int lanes, Vec3<T>& sum) {
  add_in_order(a.x, lanes, sum.x);
  add_in_order(a.y, lanes, sum.y);
  add_in_order(a.z, lanes, sum.z);
}
/// Number of lanes of pack p that have one of n molecules.
template <int lanes = kLanes>
TARN_HD int molecules_in(int p, int n) {
  const int rest = n - p * lanes;
  return rest < lanes ? rest : lanes;
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
