#pragma once

#include <cstdint>
#include <type_traits>

#include "tarn/physics/confinement.hpp"
#include "tarn/physics/pair_distances.hpp"
#include "tarn/physics/pair_force.hpp"
#include "tarn/steps/step_program.hpp"

/// @file
/// Steps of a small cluster that lies in the lanes of a warp, a molecule a lane. The program is
/// written over a type W of warp: on the device a lane is a thread and its numbers are plain ones;
/// in the tests a warp is 32 numbers side by side.
///
/// W has the number types Double and Float of a lane, and
///   shuffle(value, from)     the value of lane `from` (an Index of a lane)
///   partner(k), meeting(k)   Index of the lane that is met in round k, and of the one that meets
///   pair<R>(k)               mask of the lanes whose meeting in round k counts, for numbers R
///   real(), first()          masks: lanes with a molecule of a running replica; its first lane
///   sum(value)               over the lanes of a cluster, in a fixed order, the same in each lane
///   normals(step)            nine normal numbers of each molecule
///   kick_scale()             see ou_step
///   keep(s), stop(bad, step, s)   keep a state; stop replicas with bad lanes and put them to rest
///   note(note), count(k, class, r2), due(step), counted()   statistics

namespace tarn {
inline namespace TARN_ARCH {

/// What a launch needs beside the state.
struct ClusterSystem {
  StepParameters step;
  StepPasses passes;
  Thermostat thermostat;
  Confinement<double> wall;
  PairParameters<double> pair;
  int molecules;
};

/// One molecule in pair precision R: positions of oxygens as a high and a low part if R is Float.
template <class R>
struct ClusterSite {
  Vec3<R> o, o_low;
  SiteOffsets<R> d;
};

template <class W, class R>
struct IsMixed {
  static constexpr bool value = !std::is_same_v<R, typename W::Double>;
};

template <class W>
TARN_HD Vec3<typename W::Float> rounded(const Vec3<typename W::Double>& a) {
  return {W::to_float(a.x), W::to_float(a.y), W::to_float(a.z)};
}
template <class W>
TARN_HD Vec3<typename W::Double> widened(const Vec3<typename W::Float>& a) {
  return {W::to_double(a.x), W::to_double(a.y), W::to_double(a.z)};
}

template <class W, class R, bool kMSite>
TARN_HD ClusterSite<R> make_site(const Triple<typename W::Double>& x, double m_weight) {
  using D = typename W::Double;
  const SiteOffsets<D> d = site_offsets<kMSite>(x, D(m_weight));
  ClusterSite<R> s{};
  if constexpr (IsMixed<W, R>::value) {
    s.o = rounded<W>(x.o);
    s.o_low = rounded<W>(x.o - widened<W>(s.o));
    s.d.h1 = rounded<W>(d.h1);
    s.d.h2 = rounded<W>(d.h2);
    if constexpr (kMSite) s.d.m = rounded<W>(d.m);
  } else {
    s.o = x.o;
    s.d = d;
  }
  return s;
}

template <class W, class T>
TARN_HD Vec3<T> shuffled(const W& w, const Vec3<T>& a, const typename W::Index& from) {
  return {w.shuffle(a.x, from), w.shuffle(a.y, from), w.shuffle(a.z, from)};
}
template <class W, class T>
TARN_HD Triple<T> shuffled(const W& w, const Triple<T>& a, const typename W::Index& from) {
  return {shuffled(w, a.o, from), shuffled(w, a.h1, from), shuffled(w, a.h2, from)};
}
template <class R, bool kMixed>
TARN_HD Vec3<R> oxygen_vector(const ClusterSite<R>& i, const ClusterSite<R>& j) {
  if constexpr (kMixed) {
    return (i.o - j.o) + (i.o_low - j.o_low);
  } else {
    return i.o - j.o;
  }
}

template <class R>
TARN_HD SiteForces<R> no_site_forces() {
  const R zero = R(scalar_t<R>(0));
  const Vec3<R> v{zero, zero, zero};
  return {v, v, v, v};
}

/// All forces that do not belong to the bonds: pairs in precision R, each once, and the wall.
template <class W, class R, bool kMSite>
TARN_HD Triple<typename W::Double> cluster_forces(const W& w, const ClusterSystem& system,
                                                  const PairParameters<scalar_t<R>>& pair,
                                                  const Triple<typename W::Double>& x) {
  using D = typename W::Double;
  constexpr bool mixed = IsMixed<W, R>::value;
  const ClusterSite<R> own = make_site<W, R, kMSite>(x, system.pair.m_weight);
  SiteForces<R> f = no_site_forces<R>();
  for (int k = 1; k <= w.rounds(); ++k) {
    const auto from = w.partner(k);
    ClusterSite<R> other{};
    other.o = shuffled(w, own.o, from);
    if constexpr (mixed) other.o_low = shuffled(w, own.o_low, from);
    other.d.h1 = shuffled(w, own.d.h1, from);
    other.d.h2 = shuffled(w, own.d.h2, from);
    if constexpr (kMSite) other.d.m = shuffled(w, own.d.m, from);
    const SomeLanes<R> counts{w.template pair<R>(k)};
    const R far = R(scalar_t<R>(1e3));
    Vec3<R> r = oxygen_vector<R, mixed>(own, other);
    r = {select(counts.mask, r.x, far), select(counts.mask, r.y, far),
         select(counts.mask, r.z, far)};
    SiteForces<R> on_other = no_site_forces<R>();
    add_pair_forces<kMSite>(pair, r, own.d, other.d, counts, f, on_other);
    // What a molecule does to its partner goes to the partner's lane.
    const auto back = w.meeting(k);
    f.o = f.o + shuffled(w, on_other.o, back);
    f.h1 = f.h1 + shuffled(w, on_other.h1, back);
    f.h2 = f.h2 + shuffled(w, on_other.h2, back);
    if constexpr (kMSite) f.m = f.m + shuffled(w, on_other.m, back);
  }
  SiteForces<D> wide;
  if constexpr (mixed) {
    wide.o = widened<W>(f.o);
    wide.h1 = widened<W>(f.h1);
    wide.h2 = widened<W>(f.h2);
    if constexpr (kMSite) wide.m = widened<W>(f.m);
  } else {
    wide = f;
  }
  Triple<D> on_atoms = forces_on_atoms<kMSite>(wide, D(system.pair.m_weight));
  const D per_molecule = D(1.0 / system.molecules);
  const auto sum = [&](const Vec3<D>& a) -> Vec3<D> {
    return {w.sum(a.x), w.sum(a.y), w.sum(a.z)};
  };
  if constexpr (mixed) {
    on_atoms = remove_net_force(on_atoms, per_molecule * sum(total(on_atoms)), system.step.masses);
  }
  if (system.wall.stiffness > 0.0) {
    const Masses<double>& m = system.step.masses;
    const auto of_real = [&](const Vec3<D>& a) -> Vec3<D> {
      return {select(w.real(), a.x, D(0.0)), select(w.real(), a.y, D(0.0)),
              select(w.real(), a.z, D(0.0))};
    };
    const D share = D(1.0 / (system.molecules * (m.o + 2.0 * m.h)));
    const Vec3<D> centre = share * sum(of_real(mass_moment(x, m)));
    const Vec3<D> push = of_real(wall_force(x.o - centre, system.wall));
    on_atoms.o = on_atoms.o + push;
    on_atoms = remove_net_force(on_atoms, per_molecule * sum(push), m);
  }
  return on_atoms;
}

/// Marks velocities of lanes that cannot go on as no numbers.
template <class D>
TARN_HD void poison(const mask_t<D>& good, MoleculeState<D>& s) {
  s.v.o.x = select(good, s.v.o.x, D(__builtin_nan("")));
}

/// Distances between the molecules of a cluster, at the reported positions, to w.count.
template <class W>
TARN_HD void count_cluster(W& w, const Triple<typename W::Double>& q) {
  using D = typename W::Double;
  for (int k = 1; k <= w.rounds(); ++k) {
    const Triple<D> other = shuffled(w, q, w.partner(k));
    for_each_distance(
        q, other, [&](int pair_class) { return w.counts(pair_class); },
        [&](int pair_class, const Vec3<D>& d) { w.count(k, pair_class, norm2(d)); });
  }
  w.counted();
}

/// Accelerations at the start, a function of the positions only; v is left as it is.
/// @param f out: the forces
template <class W, class R, bool kMSite>
TARN_HD void prepare_cluster(W& w, const ClusterSystem& system,
                             const PairParameters<scalar_t<R>>& pair, std::int64_t step,
                             MoleculeState<typename W::Double>& s, Triple<typename W::Double>& f) {
  using D = typename W::Double;
  f = cluster_forces<W, R, kMSite>(w, system, pair, s.x);
  const Triple<D> v = s.v;
  const mask_t<D> good = end_step(system.step, system.passes.end, f, s);
  // Infinite or missing accelerations, or velocities that could not be projected: overlapping
  // atoms. c - c is 0 for finite numbers only.
  const Triple<D> none = fma(D(0.0), s.v, s.a - s.a);
  s.v = v;
  const D finite = total(none).x + total(none).y + total(none).z;
  w.keep(s);
  w.stop(!((finite == D(0.0)) & good), step, s);
}

/// Steps first .. first + n - 1.
template <class W, class R, bool kMSite>
TARN_HD void advance_cluster(W& w, const ClusterSystem& system,
                             const PairParameters<scalar_t<R>>& pair, std::int64_t first,
                             std::int64_t n, MoleculeState<typename W::Double>& s,
                             Triple<typename W::Double>& v_thermal) {
  using D = typename W::Double;
  const bool baoab = system.thermostat == Thermostat::baoab;
  for (std::int64_t step = first; step < first + n; ++step) {
    if (step % kKeptSteps == 0) w.keep(s);
    StepNote<D> note;
    if (baoab) {
      note = begin_baoab(system.step, system.passes.move, w.normals(step), w.kick_scale(), s,
                         v_thermal);
    } else {
      note = begin_step(system.step, system.passes.move, s);
    }
    poison<D>(note.good, s);
    w.note(note);
    if (!is_constrained(system.passes.move)) w.indefinite(note.good);
    const Triple<D> f = cluster_forces<W, R, kMSite>(w, system, pair, s.x);
    const mask_t<D> definite = end_step(system.step, system.passes.end, f, s);
    w.indefinite(definite);
    poison<D>(definite, s);
    // Before the noise, so that a replica is judged by the velocities that it had.
    const D speed2 = weighted_norm2(D(1.0), D(1.0), s.v);
    w.stop(!(speed2 < D(kLargestSpeed2)), step + 1, s);
    if (system.thermostat == Thermostat::gla) {
      thermostat_step(system.step, system.passes.move, w.normals(step), w.kick_scale(), s);
    }
    if (w.due(step + 1)) count_cluster(w, pushed_back(s, D(system.step.bh2)));
  }
}

}  // namespace TARN_ARCH
}  // namespace tarn
