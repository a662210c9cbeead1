#pragma once

#include "molecule_passes.hpp"
#include "small_pairs.hpp"

/// @file
/// Kernels for single precision only: conversions from and to double, and forces.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::SinglePairs;

// --- from and to double --------------------------------------------------------------------------

/// Offsets of the two packs of doubles that correspond to pack p of floats.
struct DoublePacks {
  std::ptrdiff_t at[2];
};
TARN_HD DoublePacks double_packs(const MoleculePacks& packs, int p) {
  const auto at = [&](int half) {
    const DoublePack d = half_of_pack(packs, p, half);
    return nine_at(d.sub_block * packs.molecules + d.number);
  };
  return {{at(0), at(1)}};
}
/// The nearest integer, even ones first.
TARN_HD D nearest(const D& a) {
  const D big(0x1.8p52);
  return (a + big) - big;
}
/// fixed_position() of the lanes, except for the rounding of ties.
TARN_HD FixedPosition<U> fixed_positions(const Triple<D>& low, const Triple<D>& high) {
  FixedPosition<U> r;
  const auto component = [&](const auto& of, U& cell, U& o, U& h1, U& h2) {
    const D whole[2] = {nearest(of(low.o)), nearest(of(high.o))};
    const D units(1.0 / kFixedUnit);
    const auto atom = [&](const D& a, const D& b) {
      return narrow_int(nearest(units * (a - whole[0])), nearest(units * (b - whole[1])));
    };
    cell = narrow_int(whole[0], whole[1]);
    o = atom(of(low.o), of(high.o));
    h1 = atom(of(low.h1), of(high.h1));
    h2 = atom(of(low.h2), of(high.h2));
  };
  component([](const Vec3<D>& a) { return a.x; }, r.cell.x, r.x.o.x, r.x.h1.x, r.x.h2.x);
  component([](const Vec3<D>& a) { return a.y; }, r.cell.y, r.x.o.y, r.x.h1.y, r.x.h2.y);
  component([](const Vec3<D>& a) { return a.z; }, r.cell.z, r.x.o.z, r.x.h1.z, r.x.h2.z);
  follow_oxygen(r);
  return r;
}
TARN_HD Triple<F> rounded_triple(const Triple<D>& low, const Triple<D>& high) {
  const auto vec3 = [](const Vec3<D>& a, const Vec3<D>& b) -> Vec3<F> {
    return {round_to_float(a.x, b.x), round_to_float(a.y, b.y), round_to_float(a.z, b.z)};
  };
  return {vec3(low.o, high.o), vec3(low.h1, high.h1), vec3(low.h2, high.h2)};
}
void load_single(const MoleculePacks& from, const SinglePacks& to) {
  for (int p = to.first_pack; p < to.last_pack; ++p) {
    const DoublePacks d = double_packs(from, p);
    const auto both = [&](const double* at) {
      return rounded_triple(load_triple(at + d.at[0]), load_triple(at + d.at[1]));
    };
    store_fixed(fixed_positions(load_triple(from.x + d.at[0]), load_triple(from.x + d.at[1])), to.x,
                p);
    store_triple(both(from.v), to.v + nine_at<F>(p));
    store_triple(both(from.a), to.a + nine_at<F>(p));
    if (to.v_thermal != nullptr) store_triple(both(from.v_thermal), to.v_thermal + nine_at<F>(p));
  }
}
TARN_HD void store_widened(const Triple<F>& a, const DoublePacks& d, double* to) {
  const F components[9] = {a.o.x, a.o.y, a.o.z, a.h1.x, a.h1.y, a.h1.z, a.h2.x, a.h2.y, a.h2.z};
  for (int c = 0; c < 9; ++c) {
    D low, high;
    widen(components[c], low, high);
    low.store(to + d.at[0] + c * kLanes);
    high.store(to + d.at[1] + c * kLanes);
  }
}
void store_single(const SinglePacks& from, const MoleculePacks& to) {
  for (int p = from.first_pack; p < from.last_pack; ++p) {
    const DoublePacks d = double_packs(to, p);
    const std::uint32_t* x = from.x + fixed_at(p);
    for (int c = 0; c < 9; ++c) {
      D cell[2], local[2];
      widen_int(U::load(x + c % 3 * F::lanes), cell[0], cell[1]);
      widen_int(U::load(x + (3 + c) * F::lanes), local[0], local[1]);
      for (int half = 0; half < 2; ++half) {
        (cell[half] + D(kFixedUnit) * local[half]).store(to.x + d.at[half] + c * kLanes);
      }
    }
    store_widened(load_triple(from.v + nine_at<F>(p)), d, to.v);
    store_widened(load_triple(from.a + nine_at<F>(p)), d, to.a);
    if (from.v_thermal != nullptr) {
      store_widened(load_triple(from.v_thermal + nine_at<F>(p)), d, to.v_thermal);
    }
  }
}
void round_forces(const double* from, int first_pack, int last_pack, float* to) {
  for (int p = first_pack; p < last_pack; ++p) {
    store_triple(
        rounded_triple(load_triple(from + nine_at(2 * p)), load_triple(from + nine_at(2 * p + 1))),
        to + nine_at<F>(p));
  }
}

// --- forces --------------------------------------------------------------------------------------

template <bool kMSite>
void build_single_sites(const SinglePairs& args, const PairParameters<float>& parameters) {
  constexpr int n = F::lanes;
  for (int p = args.first_pack; p < args.last_pack; ++p) {
    const FixedPosition<U> x = load_fixed(args.x, p);
    const SiteOffsets<F> d = site_offsets<kMSite>(from_oxygen<F>(x), F(parameters.m_weight));
    float* site = args.sites + p * kSiteComponents * n;
    store_vec3(oxygen_cell<F>(x), site);
    store_vec3(oxygen_in_cell<F>(x), site + 3 * n);
    store_vec3(d.h1, site + 6 * n);
    store_vec3(d.h2, site + 9 * n);
    if constexpr (kMSite) store_vec3(d.m, site + 12 * n);
  }
}
template <bool kMSite, PairOrder kOrder>
void small_single(const SinglePairs& args, const PairParameters<float>& parameters) {
  build_single_sites<kMSite>(args, parameters);
  each_pair_once<kMSite, kOrder>(
      args.molecules, parameters, args.sites, args.work, [&](int i, const SiteForces<F>& f) {
        store_triple(forces_on_atoms<kMSite>(f, F(parameters.m_weight)), args.f + nine_at<F>(i));
      });
}
template <bool kMSite, PairOrder kOrder>
void narrow_single(const SinglePairs& args, const PairParameters<float>& parameters) {
  each_pair_once_in_lanes<kMSite, kOrder>(
      args.molecules, parameters, args.sites, args.work, args.row_length,
      [&](int own, const SiteForces<F>& f) {
        store_triple(forces_on_atoms<kMSite>(f, F(parameters.m_weight)), args.f + nine_at<F>(own));
      });
}

/// Positions are relative to the cell of the first molecule, so that the result is independent of
/// the distance of the cluster from the origin.
template <bool kIsotopes>
void confine(const SinglePacks& packs, const Masses<float>& m, const OutsideForces<float>& outside,
             float* f) {
  Vec3<U> origin = load_fixed(packs.x, 0).cell;
  if (!packs.lanes_are_replicas) {
    origin = {U(origin.x[0]), U(origin.y[0]), U(origin.z[0])};
  }
  const auto position = [&](int p) -> Triple<F> {
    FixedPosition<U> x = load_fixed(packs.x, p);
    x.cell = x.cell - origin;
    const Vec3<F> o = oxygen_cell<F>(x) + oxygen_in_cell<F>(x);
    const Triple<F> d = from_oxygen<F>(x);
    return {o, o + d.h1, o + d.h2};
  };
  const float cluster_mass = static_cast<float>(packs.molecules) * (m.o + 2.0f * m.h);
  for_each_cluster<F>(packs, [&](int first, int count) {
    const Vec3<F> centre = F(1.0f / cluster_mass) *
                           sum_over_cluster<F>(packs, first, count,
                                               [&](int p) { return mass_moment(position(p), m); });
    add_outside_forces(packs, first, count, m, outside, f,
                       [&](int p) { return wall_force(position(p).o - centre, outside); });
  });
}

template <PairOrder kOrder>
constexpr cpu::SingleKernels single_kernels() {
  return {load_single,
          store_single,
          {small_single<false, kOrder>, small_single<true, kOrder>},
          {narrow_single<false, kOrder>, narrow_single<true, kOrder>},
          {build_single_sites<false>, build_single_sites<true>},
          round_forces};
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
