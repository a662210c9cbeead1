#pragma once

#include <utility>

#include "kernel_table.hpp"
#include "tarn/core/pack.hpp"
#include "tarn/physics/confinement.hpp"
#include "tarn/physics/noise.hpp"
#include "tarn/physics/pair_distances.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/steps/step_program.hpp"

/// @file
/// The loops of the CPU engine, compiled once per instruction set. They hold no arithmetic of
/// physics and call nothing but the formulas, which lie in the namespace of the instruction set.

namespace tarn {
inline namespace TARN_ARCH {
namespace {

using cpu::kFixedComponents;
using cpu::kSiteComponents;
using cpu::kSiteForceComponents;
using cpu::LargePairs;
using cpu::MoleculePacks;
using cpu::NewmarkCorrection;
using cpu::PackLanes;
using cpu::PairCounting;
using cpu::PassReport;
using cpu::SinglePacks;
using cpu::SmallPairs;

using D = Pack<double>;
using F = Pack<float>;
using U = Pack<std::uint32_t>;
inline constexpr int kLanes = D::lanes;

// --- memory --------------------------------------------------------------------------------------

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
/// Where the nine coordinates of pack p lie.
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
template <class P>
TARN_HD SiteForces<P> no_forces() {
  const P zero(scalar_t<P>(0));
  const Vec3<P> v{zero, zero, zero};
  return {v, v, v, v};
}
template <bool kMSite, class P>
TARN_HD void add(const SiteForces<P>& f, SiteForces<P>& sum) {
  sum.o = sum.o + f.o;
  sum.h1 = sum.h1 + f.h1;
  sum.h2 = sum.h2 + f.h2;
  if constexpr (kMSite) sum.m = sum.m + f.m;
}
/// Forces in pair precision as packs of double.
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

/// Adds the lanes of the first `lanes` molecules of a pack one by one, so that a sum over molecules
/// has the same order whether they are packs or lanes.
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
/// Lanes of pack p that hold one of n molecules.
template <int lanes = kLanes>
TARN_HD int molecules_in(int p, int n) {
  const int rest = n - p * lanes;
  return rest < lanes ? rest : lanes;
}

// --- passes over molecules -----------------------------------------------------------------------

/// What a pass over molecules changes; the rest is not stored.
struct Changes {
  bool x, v, a;
};
inline constexpr Changes kChangesXV{true, true, false}, kChangesVA{false, true, true},
    kChangesV{false, true, false};

TARN_HD MoleculeState<D> load_state(const MoleculePacks& packs, int p) {
  const std::ptrdiff_t at = nine_at(p);
  return {load_triple(packs.x + at), load_triple(packs.v + at), load_triple(packs.a + at)};
}
TARN_HD SingleState<F, U> load_state(const SinglePacks& packs, int p) {
  const std::ptrdiff_t at = nine_at<F>(p);
  return {load_fixed(packs.x, p), load_triple(packs.v + at), load_triple(packs.a + at)};
}
TARN_HD void store_positions(const MoleculeState<D>& s, const MoleculePacks& packs, int p) {
  store_triple(s.x, packs.x + nine_at(p));
}
TARN_HD void store_positions(const SingleState<F, U>& s, const SinglePacks& packs, int p) {
  store_fixed(s.x, packs.x, p);
}

/// The state in the packs of either kind, and its numbers.
template <class Packs>
using State = decltype(load_state(std::declval<Packs>(), 0));
template <class Packs>
using Number = number_t<State<Packs>>;

/// Calls step(pack number, state) for a pack and stores what it changes.
template <Changes kChanges, class Packs, class Step>
TARN_HD void at_pack(const Packs& packs, int p, const Step& step) {
  const std::ptrdiff_t at = nine_at<Number<Packs>>(p);
  State<Packs> s = load_state(packs, p);
  step(p, s);
  if constexpr (kChanges.x) store_positions(s, packs, p);
  if constexpr (kChanges.v) store_triple(s.v, packs.v + at);
  if constexpr (kChanges.a) store_triple(s.a, packs.a + at);
}
template <Changes kChanges, class Packs, class Step>
TARN_HD void for_each_pack(const Packs& packs, const Step& step) {
  for (int p = packs.first_pack; p < packs.last_pack; ++p) at_pack<kChanges>(packs, p, step);
}

template <class M>
TARN_HD void check(int p, const M& s, PassReport& report) {
  using P = number_t<M>;
  const P one(scalar_t<P>(1)), largest(static_cast<scalar_t<P>>(kLargestSpeed2));
  if (any(!(weighted_norm2(one, one, s.v) < largest)) && report.bad_pack < 0) report.bad_pack = p;
}

/// Marks lanes that cannot go on; the end of the step reports them as blown up.
template <class M>
TARN_HD void mark_bad(const mask_t<number_t<M>>& good, M& s) {
  using P = number_t<M>;
  s.v.o.x = select(good, s.v.o.x, P(static_cast<scalar_t<P>>(__builtin_nan(""))));
}
template <class M>
TARN_HD void flag_indefinite(const mask_t<number_t<M>>& definite, M& s, PassReport& report) {
  using P = number_t<M>;
  using T = scalar_t<P>;
  if (!any(!definite)) return;
  mark_bad(definite, s);
  report.indefinite += static_cast<std::int64_t>(sum_lanes(select(definite, P(T(0)), P(T(1)))));
}
/// Counts iterations.
template <class P>
TARN_HD void count_iterations(const PackLanes& packs, int p, const P& iterations,
                              PassReport& report) {
  using T = scalar_t<P>;
  const int lanes = packs.lanes_are_replicas ? packs.replicas - p / packs.molecules * P::lanes
                                             : packs.molecules - p * P::lanes;
  const P real = select(lane_numbers<T>() < P(static_cast<T>(lanes)), iterations, P(T(0)));
  report.iterations += static_cast<std::int64_t>(sum_lanes(real));
}
template <Move kMove, class M>
TARN_HD void take_note(const PackLanes& packs, int p, const StepNote<number_t<M>>& note, M& s,
                       PassReport& report) {
  if constexpr (kMove == Move::newton || kMove == Move::sweeps) {
    mark_bad(note.good, s);
    count_iterations(packs, p, note.iterations, report);
  } else if constexpr (kMove == Move::newmark_full) {
    flag_indefinite(note.good, s, report);
  }
}

// Passes copy the numbers of the step: no store can change them, so that they are read once.

template <Move kMove, class S, class Packs>
PassReport begin_pass(const StepNumbers<S>& numbers, const Packs& packs) {
  const StepNumbers<S> q = numbers;
  PassReport report;
  for_each_pack<kChangesXV>(packs, [&](int p, State<Packs>& s) {
    take_note<kMove>(packs, p, begin_step(q, kMove, s), s, report);
  });
  return report;
}

void correct_newmark(const StepParameters& parameters, const MoleculePacks& packs,
                     const NewmarkCorrection& args) {
  const int rows = packs.lanes_are_replicas ? packs.molecules : packs.last_pack;
  for (int first = packs.first_pack; first < packs.last_pack; first += rows) {
    const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(first / rows) * kLanes;
    const Mask<double> active = D(0.0) < D::load(args.active + lanes);
    D change2(0.0), size2(0.0);
    double cluster_change2 = 0.0, cluster_size2 = 0.0;
    for (int p = first; p < first + rows; ++p) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(p) * 9 * kLanes;
      const Triple<D> q = load_triple(args.q + at), a = load_triple(packs.a + at);
      const Triple<D> d = pushforward_newmark_correction(
          q, a, load_triple(packs.f + at), parameters.bonds, parameters.masses, parameters.zss);
      const auto moved = [&](const Vec3<D>& from, const Vec3<D>& by) -> Vec3<D> {
        return {select(active, from.x + by.x, from.x), select(active, from.y + by.y, from.y),
                select(active, from.z + by.z, from.z)};
      };
      store_triple(Triple<D>{moved(a.o, d.o), moved(a.h1, d.h1), moved(a.h2, d.h2)}, packs.a + at);
      const D moved2 = weighted_norm2(D(1.0), D(1.0), d), norm2 = weighted_norm2(D(1.0), D(1.0), q);
      if (packs.lanes_are_replicas) {
        change2 = change2 + moved2;
        size2 = size2 + norm2;
      } else {
        add_in_order(moved2, molecules_in(p, packs.molecules), cluster_change2);
        add_in_order(norm2, molecules_in(p, packs.molecules), cluster_size2);
      }
    }
    if (!packs.lanes_are_replicas) {
      change2 = D(cluster_change2);
      size2 = D(cluster_size2);
    }
    change2 = D(parameters.bh2 * parameters.bh2) * change2;
    change2.store(args.change2 + lanes);
    size2.store(args.size2 + lanes);
  }
}

template <End kEnd, class S, class Packs>
PassReport end_pass(const StepNumbers<S>& numbers, const Packs& packs) {
  const StepNumbers<S> q = numbers;
  PassReport report;
  for_each_pack<kChangesVA>(packs, [&](int p, State<Packs>& s) {
    const auto good = end_step(q, kEnd, load_triple(packs.f + nine_at<Number<Packs>>(p)), s);
    if constexpr (kEnd == End::full) flag_indefinite(good, s, report);
    check(p, s, report);
  });
  return report;
}
/// After accelerations that were solved elsewhere.
PassReport end_kick(const StepParameters& q, const MoleculePacks& packs) {
  PassReport report;
  for_each_pack<kChangesV>(packs, [&](int p, MoleculeState<D>& s) {
    kick(s, D(q.h));
    check(p, s, report);
  });
  return report;
}

TARN_HD NoisePack noise_names(const PackLanes& packs, int p) {
  using U64 = Pack<std::uint64_t>;
  if (packs.lanes_are_replicas) {
    return {U64::load(packs.replica_ids + p / packs.molecules * kLanes),
            U64(static_cast<std::uint64_t>(p % packs.molecules))};
  }
  return {U64(packs.replica_ids[0]),
          lane_numbers<std::uint64_t>() + U64(static_cast<std::uint64_t>(p) * kLanes)};
}
TARN_HD D kick_scale(const MoleculePacks& packs, int p) {
  return D::load(packs.kick_scale + (packs.lanes_are_replicas ? p / packs.molecules : p) * kLanes);
}
TARN_HD F kick_scale(const SinglePacks& packs, int p) {
  const double* at = packs.kick_scale + (packs.lanes_are_replicas ? 0 : 2 * p * kLanes);
  return round_to_float(D::load(at), D::load(at + kLanes));
}
/// Calls step(pack number, state, noise) for each pack. Noise is made for two packs at a time. Long
/// steps are inlined by force: called twice, they would take their state through memory.
template <Changes kChanges, class Step>
TARN_HD void for_each_pack_with_noise(std::uint64_t seed, const MoleculePacks& packs,
                                      std::int64_t step_number, const Step& step) {
  for (int p = packs.first_pack; p < packs.last_pack; p += 2) {
    const int second = p + 1 < packs.last_pack ? p + 1 : p;
    Triple<D> xi[2];
    molecule_normals(seed, {noise_names(packs, p), noise_names(packs, second)},
                     static_cast<std::uint64_t>(step_number), NoiseStream::thermostat, xi);
    at_pack<kChanges>(packs, p, [&](int, MoleculeState<D>& s) { step(p, s, xi[0]); });
    if (second == p) break;
    at_pack<kChanges>(packs, second, [&](int, MoleculeState<D>& s) { step(second, s, xi[1]); });
  }
}
TARN_HD Triple<F> single_normals(std::uint64_t seed, const SinglePacks& packs, int p,
                                 std::int64_t step) {
  using U64 = Pack<std::uint64_t>;
  NoisePack of[2];
  for (int half = 0; half < 2; ++half) {
    if (packs.lanes_are_replicas) {
      of[half] = {U64::load(packs.replica_ids + half * kLanes), U64(static_cast<std::uint64_t>(p))};
    } else {
      const std::uint64_t first = static_cast<std::uint64_t>(2 * p + half) * kLanes;
      of[half] = {U64(packs.replica_ids[0]), lane_numbers<std::uint64_t>() + U64(first)};
    }
  }
  return molecule_normals(seed, of, static_cast<std::uint64_t>(step), NoiseStream::thermostat);
}
template <Changes kChanges, class Step>
TARN_HD void for_each_pack_with_noise(std::uint64_t seed, const SinglePacks& packs,
                                      std::int64_t step_number, const Step& step) {
  for_each_pack<kChanges>(packs, [&](int p, SingleState<F, U>& s) {
    step(p, s, single_normals(seed, packs, p, step_number));
  });
}
template <Move kMove, class S, class Packs>
void thermostat_pass(const StepNumbers<S>& numbers, const Packs& packs, std::int64_t step) {
  const StepNumbers<S> q = numbers;
  for_each_pack_with_noise<kChangesV>(
      q.seed, packs, step,
      [&](int p, State<Packs>& s, const Triple<Number<Packs>>& xi) __attribute__((always_inline)) {
        thermostat_step(q, kMove, xi, kick_scale(packs, p), s);
      });
}
template <Move kMove, class S, class Packs>
PassReport baoab_pass(const StepNumbers<S>& numbers, const Packs& packs, std::int64_t step) {
  const StepNumbers<S> q = numbers;
  PassReport report;
  for_each_pack_with_noise<kChangesXV>(
      q.seed, packs, step,
      [&](int p, State<Packs>& s, const Triple<Number<Packs>>& xi) __attribute__((always_inline)) {
        Triple<Number<Packs>> v;
        const auto note = begin_baoab(q, kMove, xi, kick_scale(packs, p), s, v);
        store_triple(v, packs.v_thermal + nine_at<Number<Packs>>(p));
        take_note<kMove>(packs, p, note, s, report);
      });
  return report;
}

/// Sums op(pack), a Vec3<P>, over the molecules of each cluster, pack after pack or lane after
/// lane.
template <class P, class Op>
TARN_HD Vec3<P> sum_over_cluster(const PackLanes& packs, int first, int cluster_packs,
                                 const Op& op) {
  using T = scalar_t<P>;
  if (packs.lanes_are_replicas) {
    Vec3<P> sum{P(T(0)), P(T(0)), P(T(0))};
    for (int p = 0; p < cluster_packs; ++p) sum = sum + op(first + p);
    return sum;
  }
  Vec3<T> sum{T(0), T(0), T(0)};
  for (int p = 0; p < cluster_packs; ++p) {
    add_in_order(op(first + p), molecules_in<P::lanes>(p, packs.molecules), sum);
  }
  return {P(sum.x), P(sum.y), P(sum.z)};
}
/// Calls op(first pack, number of packs) for each cluster, or for those of the lanes.
template <class Op>
TARN_HD void for_each_cluster(const PackLanes& packs, const Op& op) {
  const int cluster_packs = packs.lanes_are_replicas ? packs.molecules : packs.last_pack;
  for (int first = packs.first_pack; first < packs.last_pack; first += cluster_packs) {
    op(first, cluster_packs);
  }
}

/// Takes a net force off the molecules of a cluster, by mass.
template <class P, class S = scalar_t<P>>
TARN_HD void take_off(const Vec3<P>& net_force, int molecules, int first, int count,
                      const Masses<S>& m, S* f) {
  const Vec3<P> net = P(S(1) / static_cast<S>(molecules)) * net_force;
  for (int p = first; p < first + count; ++p) {
    S* at = f + static_cast<std::ptrdiff_t>(p) * 9 * P::lanes;
    store_triple(remove_net_force(load_triple(at), net, m), at);
  }
}

void confine(const MoleculePacks& packs, const Masses<double>& m, const Confinement<double>& wall,
             double* f) {
  const double cluster_mass = packs.molecules * (m.o + 2.0 * m.h);
  const auto at = [](int p) { return static_cast<std::ptrdiff_t>(p) * 9 * kLanes; };
  for_each_cluster(packs, [&](int first, int count) {
    const Vec3<D> centre =
        D(1.0 / cluster_mass) * sum_over_cluster<D>(packs, first, count, [&](int p) {
          return mass_moment(load_triple(packs.x + at(p)), m);
        });
    const Vec3<D> net = sum_over_cluster<D>(packs, first, count, [&](int p) {
      const Vec3<D> push = wall_force(load_vec3(packs.x + at(p)) - centre, wall);
      store_vec3(load_vec3(f + at(p)) + push, f + at(p));
      return push;
    });
    take_off(net, packs.molecules, first, count, m, f);
  });
}

/// Takes the net force that rounded pair forces leave off all molecules, by mass.
template <class S, class Packs>
void remove_net_force_of_cluster(const Packs& packs, const Masses<S>& m, S* f) {
  using P = Number<Packs>;
  for_each_cluster(packs, [&](int first, int count) {
    const Vec3<P> net = sum_over_cluster<P>(
        packs, first, count, [&](int p) { return total(load_triple(f + nine_at<P>(p))); });
    take_off(net, packs.molecules, first, count, m, f);
  });
}

void report_positions(const StepParameters& q, const MoleculePacks& packs, double* out) {
  for (int p = packs.first_pack; p < packs.last_pack; ++p) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(p) * 9 * kLanes;
    const MoleculeState<D> s{load_triple(packs.x + at), {}, load_triple(packs.a + at)};
    store_triple(pushed_back(s, D(q.bh2)), out + at);
  }
}

// --- sites in pair precision ---------------------------------------------------------------------

/// Pair precision: the number type of the pair loop, and how sites are made in it.
struct DoublePairs {
  using T = double;
  static constexpr int sub_blocks = 1;

  /// Sites of molecule pack m; parts[0] holds its coordinates.
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
    const Triple<D> x0 = load_triple(parts[0]), x1 = load_triple(parts[1]);
    const SiteOffsets<D> d0 = site_offsets<kMSite>(x0, D(m_weight));
    const SiteOffsets<D> d1 = site_offsets<kMSite>(x1, D(m_weight));
    const auto narrow3 = [](const Vec3<D>& a, const Vec3<D>& b, float* out) {
      round_to_float(a.x, b.x).store(out);
      round_to_float(a.y, b.y).store(out + n);
      round_to_float(a.z, b.z).store(out + 2 * n);
    };
    narrow3(x0.o, x1.o, site);
    const auto low = [](const D& a, const D& b, const float* high, float* out) {
      D h0, h1;
      widen(F::load(high), h0, h1);
      round_to_float(a - h0, b - h1).store(out);
    };
    low(x0.o.x, x1.o.x, site, site + 3 * n);
    low(x0.o.y, x1.o.y, site + n, site + 4 * n);
    low(x0.o.z, x1.o.z, site + 2 * n, site + 5 * n);
    narrow3(d0.h1, d1.h1, site + 6 * n);
    narrow3(d0.h2, d1.h2, site + 9 * n);
    if constexpr (kMSite) narrow3(d0.m, d1.m, site + 12 * n);
  }
};

/// One molecule in pair precision.
template <class T>
struct Site {
  Vec3<T> o, o_low;
  SiteOffsets<T> d;
};
/// Lanes of a pack; `stride` apart are the components.
template <bool kMSite, class T>
TARN_HD Site<Pack<T>> load_site(const T* p) {
  constexpr int n = Pack<T>::lanes;
  Site<Pack<T>> s;
  s.o = load_vec3(p);
  if constexpr (sizeof(T) == 4) s.o_low = load_vec3(p + 3 * n);
  s.d.h1 = load_vec3(p + 6 * n);
  s.d.h2 = load_vec3(p + 9 * n);
  if constexpr (kMSite) s.d.m = load_vec3(p + 12 * n);
  return s;
}
/// One lane of a pack in all lanes.
template <bool kMSite, class T>
TARN_HD Site<Pack<T>> broadcast_site(const T* p, int lane) {
  constexpr int n = Pack<T>::lanes;
  const auto vec3 = [&](int c) -> Vec3<Pack<T>> {
    return {Pack<T>(p[c * n + lane]), Pack<T>(p[(c + 1) * n + lane]),
            Pack<T>(p[(c + 2) * n + lane])};
  };
  Site<Pack<T>> s;
  s.o = vec3(0);
  if constexpr (sizeof(T) == 4) s.o_low = vec3(3);
  s.d.h1 = vec3(6);
  s.d.h2 = vec3(9);
  if constexpr (kMSite) s.d.m = vec3(12);
  return s;
}
/// Oxygen of i minus oxygen of j; from high and low parts in mixed precision.
template <class T>
TARN_HD Vec3<Pack<T>> oxygen_vector(const Site<Pack<T>>& i, const Site<Pack<T>>& j) {
  if constexpr (sizeof(T) == 4) {
    return (i.o - j.o) + (i.o_low - j.o_low);
  } else {
    return i.o - j.o;
  }
}

/// The vector where `some` lanes hold a pair; elsewhere one at which nothing is infinite.
template <class P>
TARN_HD Vec3<P> far_elsewhere(const Vec3<P>& r, const SomeLanes<P>& some) {
  const P far(static_cast<scalar_t<P>>(1e3));
  return {select(some.mask, r.x, far), select(some.mask, r.y, far), select(some.mask, r.z, far)};
}

template <class T>
TARN_HD PairParameters<T> rounded(const PairParameters<double>& p) {
  return {static_cast<T>(p.qq_nn),  static_cast<T>(p.qq_nh), static_cast<T>(p.qq_hh),
          static_cast<T>(p.lj_12a), static_cast<T>(p.lj_6c), static_cast<T>(p.m_weight)};
}

// --- small clusters: a lane is a replica ---------------------------------------------------------

/// Each pair of the molecules once; sums over the few partners are in pair precision.
/// @param site_f work space
/// @param put put(i, forces on the sites of molecule i)
template <bool kMSite, class T, class Put>
TARN_HD void each_pair_once(int n, const PairParameters<T> p, const T* sites, T* site_f,
                            const Put& put) {
  using P = Pack<T>;
  constexpr int site_size = kSiteComponents * P::lanes;
  constexpr int force_size = kSiteForceComponents * P::lanes;
  for (int m = 0; m < n; ++m) store_site_forces<kMSite>(no_forces<P>(), site_f + m * force_size);
  for (int i = 0; i < n; ++i) {
    const Site<P> site_i = load_site<kMSite>(sites + i * site_size);
    SiteForces<P> f_i = load_site_forces<kMSite>(site_f + i * force_size);
    for (int j = i + 1; j < n; ++j) {
      const Site<P> site_j = load_site<kMSite>(sites + j * site_size);
      SiteForces<P> f_j = load_site_forces<kMSite>(site_f + j * force_size);
      add_pair_forces<kMSite>(p, oxygen_vector<T>(site_i, site_j), site_i.d, site_j.d, AllLanes{},
                              f_i, f_j);
      store_site_forces<kMSite>(f_j, site_f + j * force_size);
    }
    put(i, f_i);
  }
}
template <bool kMSite, class Precision>
void small_pairs(const SmallPairs& args, const PairParameters<double>& parameters) {
  using T = typename Precision::T;
  constexpr int subs = Precision::sub_blocks;
  constexpr int site_size = kSiteComponents * Pack<T>::lanes;
  const int n = args.molecules;
  T* sites = static_cast<T*>(args.sites);
  for (int m = 0; m < n; ++m) {
    const double* parts[2] = {args.x + m * 9 * kLanes, args.x + (n + m) * 9 * kLanes};
    Precision::template build<kMSite>(parts, parameters.m_weight, sites + m * site_size);
  }
  each_pair_once<kMSite>(n, rounded<T>(parameters), sites, static_cast<T*>(args.site_f),
                         [&](int i, const SiteForces<Pack<T>>& f_i) {
                           SiteForces<D> f[subs];
                           to_double<kMSite>(f_i, f);
                           for (int s = 0; s < subs; ++s) {
                             store_triple(forces_on_atoms<kMSite>(f[s], D(parameters.m_weight)),
                                          args.f + (s * n + i) * 9 * kLanes);
                           }
                         });
}

/// One small cluster with a molecule in each lane, which meets all partners in turn: the forces
/// have the bits of each_pair_once(), and come sooner where only few replicas are left for its
/// lanes.
/// @param put put(pack, forces on the sites of its molecules)
template <bool kMSite, class T, class Put>
TARN_HD void all_partners_of_each(int n, const PairParameters<T> p, const T* sites,
                                  const Put& put) {
  using P = Pack<T>;
  constexpr int lanes = P::lanes;
  constexpr int site_size = kSiteComponents * lanes;
  for (int own = 0; own * lanes < n; ++own) {
    const Site<P> site = load_site<kMSite>(sites + own * site_size);
    const P number = lane_numbers<T>() + P(static_cast<T>(own * lanes));
    const Mask<T> real = number < P(static_cast<T>(n));
    SiteForces<P> sum = no_forces<P>();
    const auto partner_of = [&](int j) {
      return broadcast_site<kMSite>(sites + j / lanes * site_size, j % lanes);
    };
    const auto add = [&](const Site<P>& partner, const auto& own_is_i) {
      add_forces_of_partner<kMSite>(p, oxygen_vector<T>(site, partner), site.d, partner.d, own_is_i,
                                    AllLanes{}, sum);
    };
    // In turn those before the pack, those of the pack, which must not meet themselves, and those
    // after it. The lanes of a pack that is not full hold copies and are kept out of everything.
    const bool full = (own + 1) * lanes <= n;
    const int first = full ? own * lanes : 0, last = full ? (own + 1) * lanes : n;
    for (int j = 0; j < first; ++j) add(partner_of(j), std::false_type{});
    for (int j = first; j < last; ++j) {
      const Site<P> partner = partner_of(j);
      const P partner_number(static_cast<T>(j));
      const Mask<T> is_i = number < partner_number;
      const SomeLanes<P> some{real & (is_i | (number > partner_number))};
      const Vec3<P> r = far_elsewhere(oxygen_vector<T>(site, partner), some);
      add_forces_of_partner<kMSite>(p, r, site.d, partner.d, is_i, some, sum);
    }
    for (int j = last; j < n; ++j) add(partner_of(j), std::true_type{});
    put(own, sum);
  }
}
template <bool kMSite, class Precision>
void narrow_pairs(const LargePairs& args, const PairParameters<double>& parameters, double* f) {
  using T = typename Precision::T;
  constexpr int subs = Precision::sub_blocks;
  const int n = args.molecules;
  all_partners_of_each<kMSite>(n, rounded<T>(parameters), static_cast<const T*>(args.sites),
                               [&](int own, const SiteForces<Pack<T>>& sum) {
                                 SiteForces<D> wide[subs];
                                 to_double<kMSite>(sum, wide);
                                 for (int s = 0; s < subs && (own * subs + s) * kLanes < n; ++s) {
                                   store_triple(
                                       forces_on_atoms<kMSite>(wide[s], D(parameters.m_weight)),
                                       f + (own * subs + s) * 9 * kLanes);
                                 }
                               });
}

// --- large clusters: a lane is a molecule --------------------------------------------------------

template <bool kMSite, class Precision>
void build_sites(const LargePairs& args, const PairParameters<double>& parameters) {
  using T = typename Precision::T;
  constexpr int lanes = Pack<T>::lanes;
  T* sites = static_cast<T*>(args.sites);
  for (int p = 0; p < args.padded / lanes; ++p) {
    const double* parts[2] = {args.x + (p * Precision::sub_blocks) * 9 * kLanes,
                              args.x + (p * Precision::sub_blocks + 1) * 9 * kLanes};
    Precision::template build<kMSite>(parts, parameters.m_weight,
                                      sites + p * kSiteComponents * lanes);
  }
}

/// Packs of molecules, the last one past the end.
struct PackRange {
  int first, last;
};
/// The full packs of a large cluster, dealt to blocks in order. A pack that is not full is in none:
/// it takes part as a pack of rows, so that partners are full packs always.
TARN_HD PackRange packs_of_block(int block, const LargePairs& args, int lanes) {
  const int full = args.molecules / lanes, each = (full + args.blocks - 1) / args.blocks;
  const int first = block * each, last = first + each;
  return {first < full ? first : full, last < full ? last : full};
}
/// Blocks whose forces on a pack have a place: all, or those up to its own where blocks meet all
/// later ones at once; none where there is no molecule.
TARN_HD int blocks_that_meet(int pack, const LargePairs& args, int lanes) {
  const int full = args.molecules / lanes, each = (full + args.blocks - 1) / args.blocks;
  if (pack * lanes >= args.molecules) return 0;
  return pack < full && cpu::meets_all_later(args.molecules) ? pack / each + 1 : args.blocks;
}
/// Where what a block exerts on a pack lies in LargePairs::block_f.
TARN_HD std::ptrdiff_t place_of_forces(int pack, int block, const LargePairs& args, int lanes) {
  return (static_cast<std::ptrdiff_t>(pack) * args.blocks + block) * kSiteForceComponents * lanes;
}

template <class P>
TARN_HD Vec3<P> rotated(const Vec3<P>& a) {
  return {rotate_lanes(a.x), rotate_lanes(a.y), rotate_lanes(a.z)};
}
template <bool kMSite, class P>
TARN_HD SiteForces<P> rotated(const SiteForces<P>& f) {
  SiteForces<P> r{rotated(f.o), rotated(f.h1), rotated(f.h2), {}};
  if constexpr (kMSite) r.m = rotated(f.m);
  return r;
}

/// The pairs among the rows of one pack, each once: the pack meets itself turned by 1, 2 ...
/// half its lanes. op(site_i, site_j, r, lanes) for each turn; lane l has row l as i, and row
/// l + turn as j.
template <bool kMSite, class T, class Op>
TARN_HD void for_each_pair_within(const T* site, int rows, const Op& op) {
  using P = Pack<T>;
  constexpr int lanes = P::lanes;
  const Site<P> own = load_site<kMSite>(site);
  Site<P> other = own;
  const P number = lane_numbers<T>();
  P other_number = number;
  const auto next = [&]() __attribute__((always_inline)) {
    other.o = rotated(other.o);
    if constexpr (sizeof(T) == 4) other.o_low = rotated(other.o_low);
    other.d.h1 = rotated(other.d.h1);
    other.d.h2 = rotated(other.d.h2);
    if constexpr (kMSite) other.d.m = rotated(other.d.m);
    other_number = rotate_lanes(other_number);
    return oxygen_vector<T>(own, other);
  };
  int turn = 1;
  if (rows == lanes) {
    for (; turn < lanes / 2; ++turn) op(own, other, next(), AllLanes{});
  }
  for (; turn <= lanes / 2; ++turn) {
    const Vec3<P> r = next();
    // The last turn meets each pair from both sides.
    const int last = turn < lanes / 2 || rows < lanes / 2 ? rows : lanes / 2;
    const SomeLanes<P> some{(number < P(static_cast<T>(last))) &
                            (other_number < P(static_cast<T>(rows)))};
    op(own, other, far_elsewhere(r, some), some);
  }
}

/// Adds forces to those at `at`, or puts the first ones there.
template <bool kMSite, class T>
TARN_HD void add_to(T* at, bool first, const SiteForces<Pack<T>>& f) {
  SiteForces<Pack<T>> sum = f;
  if (!first) add<kMSite>(load_site_forces<kMSite>(at), sum);
  store_site_forces<kMSite>(sum, at);
}

/// Forces on molecules whose sums over the lanes are wanted: [component][molecule].
template <bool kMSite, class P>
struct ForcesToSum {
  P f[kMSite ? 12 : 9][P::lanes];
  TARN_HD void set(int molecule, const SiteForces<P>& forces) {
    set_vec3(0, molecule, forces.o);
    set_vec3(3, molecule, forces.h1);
    set_vec3(6, molecule, forces.h2);
    if constexpr (kMSite) set_vec3(9, molecule, forces.m);
  }
  TARN_HD void set_vec3(int c, int molecule, const Vec3<P>& a) {
    f[c][molecule] = a.x;
    f[c + 1][molecule] = a.y;
    f[c + 2][molecule] = a.z;
  }
  /// The sums, molecules being the lanes. The numbers are used up.
  TARN_HD SiteForces<P> sum() {
    SiteForces<P> r{sum_vec3(0), sum_vec3(3), sum_vec3(6), {}};
    if constexpr (kMSite) r.m = sum_vec3(9);
    return r;
  }
  TARN_HD Vec3<P> sum_vec3(int c) {
    return {sum_lanes_of_each(f[c]), sum_lanes_of_each(f[c + 1]), sum_lanes_of_each(f[c + 2])};
  }
};

/// Forces between the first `rows` molecules of a pack and `partners` full packs.
/// @param f_partners their forces, to which these are added
/// @return forces on the rows, which are the lanes
template <bool kMSite, class T>
TARN_HD SiteForces<Pack<T>> meet(const PairParameters<T> p, const T* own_site, int rows,
                                 const T* partner_sites, int partners,
                                 SiteForces<Pack<T>>* f_partners) {
  using P = Pack<T>;
  constexpr int site_size = kSiteComponents * P::lanes;
  ForcesToSum<kMSite, P> f_rows;
  for (int row = 0; row < rows; ++row) {
    const Site<P> i = broadcast_site<kMSite>(own_site, row);
    SiteForces<P> f_i = no_forces<P>();
    for (int partner = 0; partner < partners; ++partner) {
      const Site<P> j = load_site<kMSite>(partner_sites + partner * site_size);
      add_pair_forces<kMSite>(p, oxygen_vector<T>(i, j), i.d, j.d, AllLanes{}, f_i,
                              f_partners[partner]);
    }
    f_rows.set(row, f_i);
  }
  for (int row = rows; row < P::lanes; ++row) f_rows.set(row, no_forces<P>());
  return f_rows.sum();
}

/// Forces between the first `rows` molecules of one pack, which are the lanes.
template <bool kMSite, class T>
TARN_HD SiteForces<Pack<T>> meet_itself(const PairParameters<T> p, const T* site, int rows) {
  using P = Pack<T>;
  SiteForces<P> f_own = no_forces<P>(), f_other = no_forces<P>();
  // Inlined by force: else the sums would go through memory.
  for_each_pair_within<kMSite>(
      site, rows,
      [&](const auto& i, const auto& j, const auto& r, const auto& some)
          __attribute__((always_inline)) {
            f_other = rotated<kMSite>(f_other);
            add_pair_forces<kMSite>(p, r, i.d, j.d, some, f_own, f_other);
          });
  // The lanes have been turned by half their number.
  for (int turn = P::lanes / 2; turn < P::lanes; ++turn) f_other = rotated<kMSite>(f_other);
  add<kMSite>(f_other, f_own);
  return f_own;
}

/// Molecules on a side of a square of pairs, which the nearest memory holds.
inline constexpr int kSquare = 128;

template <bool kMSite, class Precision>
void large_pairs(const LargePairs& args, const PairParameters<double>& parameters) {
  using T = typename Precision::T;
  using P = Pack<T>;
  constexpr int lanes = P::lanes, side = kSquare / lanes;
  constexpr int site_size = kSiteComponents * lanes;
  const PairParameters<T> p = rounded<T>(parameters);
  const T* sites = static_cast<const T*>(args.sites);
  const PackRange rows = packs_of_block(args.row_block, args, lanes);
  const PackRange partners{packs_of_block(args.first_partner, args, lanes).first,
                           packs_of_block(args.last_partner - 1, args, lanes).last};
  const bool diagonal = args.row_block == args.first_partner;
  const int rest_pack = args.molecules / lanes, rest = args.molecules % lanes;
  const auto out = [&](int pack, int other_block) {
    return static_cast<T*>(args.block_f) + place_of_forces(pack, other_block, args, lanes);
  };
  if (diagonal && rest > 0 && args.row_block == 0) {
    add_to<kMSite>(out(rest_pack, 0), true,
                   meet_itself<kMSite>(p, sites + rest_pack * site_size, rest));
  }
  SiteForces<P> f_partners[side];
  for (int first_row = rows.first; first_row < rows.last; first_row += side) {
    const int last_row = first_row + side < rows.last ? first_row + side : rows.last;
    const bool first_of_rows = first_row == rows.first;
    for (int first = diagonal ? first_row : partners.first; first < partners.last; first += side) {
      const int last = first + side < partners.last ? first + side : partners.last;
      const auto meet_packs = [&](int own, int n, int from, int to) {
        return meet<kMSite>(p, sites + own * site_size, n, sites + from * site_size, to - from,
                            f_partners + (from - first));
      };
      for (int k = 0; k < last - first; ++k) f_partners[k] = no_forces<P>();
      if (diagonal && first == first_row) {
        for (int own = first_row; own < last_row; ++own) {
          SiteForces<P>& f_own = f_partners[own - first];
          add<kMSite>(meet_packs(own, lanes, own + 1, last), f_own);
          add<kMSite>(meet_itself<kMSite>(p, sites + own * site_size, lanes), f_own);
        }
        if (rest > 0) {
          add_to<kMSite>(out(rest_pack, args.row_block), first_of_rows && args.row_block > 0,
                         meet_packs(rest_pack, rest, first_row, last_row));
        }
      } else {
        for (int own = first_row; own < last_row; ++own) {
          add_to<kMSite>(out(own, args.first_partner), !diagonal && first == partners.first,
                         meet_packs(own, lanes, first, last));
        }
      }
      for (int pack = first; pack < last; ++pack) {
        add_to<kMSite>(out(pack, args.row_block), first_of_rows, f_partners[pack - first]);
      }
    }
  }
}

template <bool kMSite, class Precision>
void sum_blocks(const LargePairs& args, double m_weight, int first_pack, int last_pack, double* f) {
  using T = typename Precision::T;
  constexpr int subs = Precision::sub_blocks, lanes = subs * kLanes;
  const T* block_f = static_cast<const T*>(args.block_f);
  for (int p = first_pack; p < last_pack; ++p) {
    SiteForces<D> sum[subs];
    for (SiteForces<D>& s : sum) s = no_forces<D>();
    for (int block = 0; block < blocks_that_meet(p, args, lanes); ++block) {
      SiteForces<D> wide[subs];
      to_double<kMSite>(load_site_forces<kMSite>(block_f + place_of_forces(p, block, args, lanes)),
                        wide);
      for (int s = 0; s < subs; ++s) add<kMSite>(wide[s], sum[s]);
    }
    for (int s = 0; s < subs; ++s) {
      store_triple(forces_on_atoms<kMSite>(sum[s], D(m_weight)), f + (p * subs + s) * 9 * kLanes);
    }
  }
}

template <bool kMSite>
void large_energy(const LargePairs& args, const PairParameters<double>& p, double* coulomb,
                  double* lj) {
  constexpr int site_size = kSiteComponents * kLanes;
  const double* sites = static_cast<const double*>(args.sites);
  const int full = args.molecules / kLanes;
  D c(0.0), l(0.0);
  for (int own = 0; own * kLanes < args.molecules; ++own) {
    const double* own_site = sites + own * site_size;
    const int rows = molecules_in(own, args.molecules);
    for_each_pair_within<kMSite>(
        own_site, rows, [&](const auto& i, const auto& j, const auto& r, const auto& some) {
          add_pair_energy<kMSite>(p, r, i.d, j.d, some, c, l);
        });
    for (int j = own < full ? own + 1 : 0; j < full; ++j) {
      const Site<D> site_j = load_site<kMSite>(sites + j * site_size);
      for (int row = 0; row < rows; ++row) {
        const Site<D> site_i = broadcast_site<kMSite>(own_site, row);
        add_pair_energy<kMSite>(p, oxygen_vector<double>(site_i, site_j), site_i.d, site_j.d,
                                AllLanes{}, c, l);
      }
    }
  }
  *coulomb = sum_lanes(c);
  *lj = sum_lanes(l);
}

// --- pair distances ------------------------------------------------------------------------------

/// Adds one to the bin of each lane's distance; lanes outside `lanes` go to the last bin.
template <class Lanes>
TARN_HD void count(const PairCounting& args, int pair_class, const Vec3<D>& d, const Lanes& lanes) {
  D bin = min(sqrt(norm2(d)) * D(args.bins_per_A), D(args.bins));
  if constexpr (!std::is_same_v<Lanes, AllLanes>) bin = select(lanes.mask, bin, D(args.bins));
  const HalfNative<std::int32_t> number = __builtin_convertvector(bin.v, HalfNative<std::int32_t>);
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(pair_class) * (args.bins + 1);
  for (int l = 0; l < kLanes; ++l) {
    std::uint64_t* histogram = args.histograms[args.lanes_are_replicas ? l : 0];
    if (histogram != nullptr) ++histogram[offset + number[l]];
  }
}
template <class Lanes>
TARN_HD void count_molecules(const PairCounting& args, const Triple<D>& i, const Triple<D>& j,
                             const Lanes& lanes) {
  for_each_distance(
      i, j, [&](int pair_class) { return args.pairs[pair_class]; },
      [&](int pair_class, const Vec3<D>& d) { count(args, pair_class, d, lanes); });
}
void count_pairs(const PairCounting& args) {
  const int n = args.molecules;
  if (args.lanes_are_replicas) {
    for (int i = 0; i < n; ++i) {
      const Triple<D> x_i = load_triple(args.q + i * 9 * kLanes);
      for (int j = i + 1; j < n; ++j) {
        count_molecules(args, x_i, load_triple(args.q + j * 9 * kLanes), AllLanes{});
      }
    }
    return;
  }
  for (int i = 0; i < n; ++i) {
    const double* p = args.q + i / kLanes * 9 * kLanes + i % kLanes;
    const auto vec3 = [&](int c) -> Vec3<D> {
      return {D(p[c * kLanes]), D(p[(c + 1) * kLanes]), D(p[(c + 2) * kLanes])};
    };
    const Triple<D> x_i{vec3(0), vec3(3), vec3(6)};
    for (int pack = (i + 1) / kLanes; pack * kLanes < n; ++pack) {
      const D number = lane_numbers<double>();
      const SomeLanes<D> some{(number > D(i - pack * kLanes)) & (number < D(n - pack * kLanes))};
      count_molecules(args, x_i, load_triple(args.q + pack * 9 * kLanes), some);
    }
  }
}

}  // namespace
}  // namespace TARN_ARCH
}  // namespace tarn

#include "single_impl.hpp"

namespace tarn {
inline namespace TARN_ARCH {
namespace {

template <class S, class Packs>
constexpr cpu::StepKernels<S, Packs> step_kernels() {
  return {{begin_pass<Move::free, S, Packs>, nullptr, nullptr, begin_pass<Move::newton, S, Packs>,
           begin_pass<Move::sweeps, S, Packs>, begin_pass<Move::settle, S, Packs>},
          {baoab_pass<Move::free, S, Packs>, nullptr, nullptr, baoab_pass<Move::newton, S, Packs>,
           baoab_pass<Move::sweeps, S, Packs>, baoab_pass<Move::settle, S, Packs>},
          {end_pass<End::gauss_newton, S, Packs>, end_pass<End::full, S, Packs>,
           end_pass<End::verlet, S, Packs>, end_pass<End::shake, S, Packs>,
           end_pass<End::rattle, S, Packs>, end_pass<End::settle, S, Packs>},
          {thermostat_pass<Move::free, S, Packs>, thermostat_pass<Move::free, S, Packs>,
           thermostat_pass<Move::free, S, Packs>, thermostat_pass<Move::newton, S, Packs>,
           thermostat_pass<Move::newton, S, Packs>, thermostat_pass<Move::settle, S, Packs>},
          remove_net_force_of_cluster<S, Packs>,
          confine};
}
constexpr cpu::StepKernels<double, MoleculePacks> double_step_kernels() {
  auto kernels = step_kernels<double, MoleculePacks>();
  kernels.begin[static_cast<int>(Move::newmark)] = begin_pass<Move::newmark, double, MoleculePacks>;
  kernels.begin[static_cast<int>(Move::newmark_full)] =
      begin_pass<Move::newmark_full, double, MoleculePacks>;
  return kernels;
}

constexpr cpu::KernelTable make_table(const char* name) {
  return {name,
          kLanes,
          double_step_kernels(),
          step_kernels<float, SinglePacks>(),
          end_kick,
          correct_newmark,
          report_positions,
          {{small_pairs<false, DoublePairs>, small_pairs<false, MixedPairs>},
           {small_pairs<true, DoublePairs>, small_pairs<true, MixedPairs>}},
          {{narrow_pairs<false, DoublePairs>, narrow_pairs<false, MixedPairs>},
           {narrow_pairs<true, DoublePairs>, narrow_pairs<true, MixedPairs>}},
          {{build_sites<false, DoublePairs>, build_sites<false, MixedPairs>},
           {build_sites<true, DoublePairs>, build_sites<true, MixedPairs>}},
          {{large_pairs<false, DoublePairs>, large_pairs<false, MixedPairs>},
           {large_pairs<true, DoublePairs>, large_pairs<true, MixedPairs>}},
          {{sum_blocks<false, DoublePairs>, sum_blocks<false, MixedPairs>},
           {sum_blocks<true, DoublePairs>, sum_blocks<true, MixedPairs>}},
          {large_energy<false>, large_energy<true>},
          count_pairs,
          single_kernels()};
}

}  // namespace
}  // namespace TARN_ARCH
}  // namespace tarn
