#pragma once

// The loops of single precision; kernels_impl.hpp, which has what both need, includes this.
#include "kernels_impl.hpp"
#include "tarn/steps/step_program.hpp"

namespace tarn {
inline namespace TARN_ARCH {
namespace {

using cpu::kFixedComponents;
using cpu::SinglePacks;
using cpu::SinglePairs;

using U = Pack<std::uint32_t>;
using SingleNumbers = StepNumbers<float>;

// --- memory --------------------------------------------------------------------------------------

TARN_HD std::ptrdiff_t fixed_at(int p) {
  return static_cast<std::ptrdiff_t>(p) * kFixedComponents * F::lanes;
}
TARN_HD std::ptrdiff_t float_at(int p) { return static_cast<std::ptrdiff_t>(p) * 9 * F::lanes; }

TARN_HD FixedPosition<U> load_fixed(const std::uint32_t* x, int p) {
  const std::uint32_t* at = x + fixed_at(p);
  return {load_vec3(at), load_triple(at + 3 * F::lanes)};
}
TARN_HD void store_fixed(const FixedPosition<U>& q, std::uint32_t* x, int p) {
  std::uint32_t* at = x + fixed_at(p);
  store_vec3(q.cell, at);
  store_triple(q.x, at + 3 * F::lanes);
}

/// Calls step(pack number, state) for each pack and stores what it changes.
template <Changes kChanges, class Step>
TARN_HD void for_each_single(const SinglePacks& packs, const Step& step) {
  for (int p = 0; p < packs.packs; ++p) {
    SingleState<F, U> s{load_fixed(packs.x, p), load_triple(packs.v + float_at(p)),
                        load_triple(packs.a + float_at(p))};
    step(p, s);
    if constexpr (kChanges.x) store_fixed(s.x, packs.x, p);
    if constexpr (kChanges.v) store_triple(s.v, packs.v + float_at(p));
    if constexpr (kChanges.a) store_triple(s.a, packs.a + float_at(p));
  }
}

// --- from and to double --------------------------------------------------------------------------

/// The two packs of double that pack p of float stands for.
struct DoublePacks {
  std::ptrdiff_t at[2];
};
TARN_HD DoublePacks double_packs(const MoleculePacks& packs, int p) {
  const int first = packs.lanes_are_replicas ? p : 2 * p;
  const int second = packs.lanes_are_replicas ? packs.molecules + p : 2 * p + 1;
  return {{static_cast<std::ptrdiff_t>(first) * 9 * kLanes,
           static_cast<std::ptrdiff_t>(second) * 9 * kLanes}};
}
/// The nearest integer, even ones first.
TARN_HD D nearest(const D& a) {
  const D big(0x1.8p52);
  return (a + big) - big;
}
/// fixed_position() of the lanes, up to which of two equally near ones is taken.
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
  for (int p = 0; p < to.packs; ++p) {
    const DoublePacks d = double_packs(from, p);
    const auto both = [&](const double* at) {
      return rounded_triple(load_triple(at + d.at[0]), load_triple(at + d.at[1]));
    };
    store_fixed(fixed_positions(load_triple(from.x + d.at[0]), load_triple(from.x + d.at[1])), to.x,
                p);
    store_triple(both(from.v), to.v + float_at(p));
    store_triple(both(from.a), to.a + float_at(p));
    if (to.v_thermal != nullptr) store_triple(both(from.v_thermal), to.v_thermal + float_at(p));
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
  for (int p = 0; p < from.packs; ++p) {
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
    store_widened(load_triple(from.v + float_at(p)), d, to.v);
    store_widened(load_triple(from.a + float_at(p)), d, to.a);
    if (from.v_thermal != nullptr) {
      store_widened(load_triple(from.v_thermal + float_at(p)), d, to.v_thermal);
    }
  }
}
void round_forces(const double* from, int packs, float* to) {
  for (int p = 0; p < packs; ++p) {
    const double* at = from + 2 * static_cast<std::ptrdiff_t>(p) * 9 * kLanes;
    store_triple(rounded_triple(load_triple(at), load_triple(at + 9 * kLanes)), to + float_at(p));
  }
}

// --- passes over molecules -----------------------------------------------------------------------

void begin_single(const SingleNumbers& q, const SinglePacks& packs) {
  for_each_single<kChangesXV>(packs, [&](int, SingleState<F, U>& s) {
    kick(s, F(q.h));
    drift(s, F(q.h));
  });
}

TARN_HD Triple<F> single_normals(const SingleNumbers& q, const MoleculePacks& names, int p,
                                 std::int64_t step) {
  using U64 = Pack<std::uint64_t>;
  NoisePack of[2];
  for (int half = 0; half < 2; ++half) {
    if (names.lanes_are_replicas) {
      of[half] = {U64::load(names.replica_ids + half * kLanes), U64(static_cast<std::uint64_t>(p))};
    } else {
      const std::uint64_t first = static_cast<std::uint64_t>(2 * p + half) * kLanes;
      of[half] = {U64(names.replica_ids[0]), lane_numbers<std::uint64_t>() + U64(first)};
    }
  }
  return molecule_normals(q.seed, of, static_cast<std::uint64_t>(step), NoiseStream::thermostat);
}
TARN_HD F single_kick_scale(const MoleculePacks& names, int p) {
  const double* at = names.kick_scale + (names.lanes_are_replicas ? 0 : 2 * p * kLanes);
  return round_to_float(D::load(at), D::load(at + kLanes));
}
void baoab_single(const SingleNumbers& q, const SinglePacks& packs, const MoleculePacks& names,
                  std::int64_t step) {
  for_each_single<kChangesXV>(packs, [&](int p, SingleState<F, U>& s) {
    const Triple<F> xi = single_normals(q, names, p, step);
    store_triple(baoab_penalised(s, F(q.h), xi, q.ou, single_kick_scale(names, p)),
                 packs.v_thermal + float_at(p));
  });
}
void thermostat_single(const SingleNumbers& q, const SinglePacks& packs, const MoleculePacks& names,
                       std::int64_t step) {
  for_each_single<kChangesV>(packs, [&](int p, SingleState<F, U>& s) {
    thermostat_penalised(s, single_normals(q, names, p, step), q.ou, single_kick_scale(names, p));
  });
}
template <End kEnd>
PassReport end_single(const SingleNumbers& q, const SinglePacks& packs) {
  PassReport report;
  for_each_single<kChangesVA>(packs, [&](int p, SingleState<F, U>& s) {
    const Mask<float> good = end_step(q, kEnd, load_triple(packs.f + float_at(p)), s);
    if constexpr (kEnd == End::full) {
      if (any(!good)) {
        s.v.o.x = select(good, s.v.o.x, F(__builtin_nanf("")));
        report.indefinite += static_cast<std::int64_t>(sum_lanes(select(good, F(0.0f), F(1.0f))));
      }
    }
    const F speed2 = weighted_norm2(F(1.0f), F(1.0f), s.v);
    const F largest(static_cast<float>(kLargestSpeed2));
    if (any(!(speed2 < largest)) && report.bad_pack < 0) report.bad_pack = p;
  });
  return report;
}

// --- forces --------------------------------------------------------------------------------------

template <bool kMSite>
void build_single_sites(const SinglePairs& args, const PairParameters<float>& parameters) {
  constexpr int n = F::lanes;
  for (int p = 0; p < args.packs; ++p) {
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
template <bool kMSite>
void small_single(const SinglePairs& args, const PairParameters<float>& parameters) {
  build_single_sites<kMSite>(args, parameters);
  each_pair_once<kMSite>(
      args.molecules, parameters, args.sites, args.site_f, [&](int i, const SiteForces<F>& f) {
        store_triple(forces_on_atoms<kMSite>(f, F(parameters.m_weight)), args.f + float_at(i));
      });
}
template <bool kMSite>
void narrow_single(const SinglePairs& args, const PairParameters<float>& parameters) {
  all_partners_of_each<kMSite>(
      args.molecules, parameters, args.sites, [&](int own, const SiteForces<F>& f) {
        store_triple(forces_on_atoms<kMSite>(f, F(parameters.m_weight)), args.f + float_at(own));
      });
}

void remove_net_force_of_single(const SinglePacks& packs, const MoleculePacks& names,
                                const Masses<float>& m, float* f) {
  const Vec3<F> net = sum_over_cluster<F>(
      names, 0, packs.packs, [&](int p) { return total(load_triple(f + float_at(p))); });
  take_off(net, names.molecules, 0, packs.packs, m, f);
}
/// Positions count from the cell of the first molecule, so that nothing depends on how far the
/// cluster is from the origin.
void confine_single(const SinglePacks& packs, const MoleculePacks& names, const Masses<float>& m,
                    const Confinement<float>& wall, float* f) {
  Vec3<U> origin = load_fixed(packs.x, 0).cell;
  if (!names.lanes_are_replicas) {
    origin = {U(origin.x[0]), U(origin.y[0]), U(origin.z[0])};
  }
  const auto position = [&](int p) -> Triple<F> {
    FixedPosition<U> x = load_fixed(packs.x, p);
    x.cell = x.cell - origin;
    const Vec3<F> o = oxygen_cell<F>(x) + oxygen_in_cell<F>(x);
    const Triple<F> d = from_oxygen<F>(x);
    return {o, o + d.h1, o + d.h2};
  };
  const float cluster_mass = static_cast<float>(names.molecules) * (m.o + 2.0f * m.h);
  const Vec3<F> centre = F(1.0f / cluster_mass) *
                         sum_over_cluster<F>(names, 0, packs.packs,
                                             [&](int p) { return mass_moment(position(p), m); });
  const Vec3<F> net = sum_over_cluster<F>(names, 0, packs.packs, [&](int p) {
    const Vec3<F> push = wall_force(position(p).o - centre, wall);
    store_vec3(load_vec3(f + float_at(p)) + push, f + float_at(p));
    return push;
  });
  take_off(net, names.molecules, 0, packs.packs, m, f);
}

constexpr cpu::SingleKernels single_kernels() {
  return {load_single,
          store_single,
          begin_single,
          baoab_single,
          {end_single<End::gauss_newton>, end_single<End::full>, end_single<End::verlet>, nullptr,
           nullptr},
          thermostat_single,
          {small_single<false>, small_single<true>},
          {narrow_single<false>, narrow_single<true>},
          {build_single_sites<false>, build_single_sites<true>},
          round_forces,
          remove_net_force_of_single,
          confine_single};
}

}  // namespace
}  // namespace TARN_ARCH
}  // namespace tarn
