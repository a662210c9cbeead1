#pragma once

#include <cstdint>
#include <type_traits>

#include "physics/bias.hpp"
#include "physics/pair_force.hpp"
#include "steps/ring_measure.hpp"
#include "steps/step_program.hpp"

/// @file
/// Steps of small clusters in the lanes of a warp, one molecule per lane. The program is a template
/// over the warp type W: on the device a lane is a thread and its values are scalars; in the tests
/// a value holds all 32 lanes.
///
/// W defines the types Double and Float of a lane, and
///   shuffle(value, from)     the value of lane `from` (an Index of a lane)
///   partner(k), meeting(k)   Index of the partner's lane in round k, and of the lane whose partner
///                            this lane is
///   first()                  Index of the lane of the cluster's first molecule
///   pair<R>(k)               mask of the lanes that have a pair in round k, for values R
///   sum(vector)              sum over a cluster, in a fixed order, the same in all its lanes
///   normals<T>(step)         nine normal random numbers per molecule
///   kick_scale<T>()          see ou_step
///   heat_tally()             tally of the thermostat's heat, see thermostat_penalised
///   keep(s)                  keeps a state
///   stop(bad, step, s)       stops replicas with bad lanes and restores their kept positions
///   largest_speed2()         above it a molecule is bad
///   record(status), indefinite(mask)   statistics
///   begin_stages(step), end_stage(stage, step)   marks between the stages of a step
///   kRings                   whether a cluster is a mode, and then a bead, of a ring polymer; then
///   mode()                   constants of the mode, see ModeNumbers
///   to_beads(x), to_modes(f) transforms over the ring polymer
///   store_thermal(v)         stores velocities right after the noise
///
/// The state of a molecule is a MoleculeState of doubles, or a SingleState.

namespace tarn::inline TARN_ARCH {

/// Stages of a step whose time is reported; see EngineReport.
enum class Stage { pairs, bonds, noise, rest };
inline constexpr int kStages = 4;
/// The stage of the first half of a step, without the random numbers of BAOAB.
TARN_HD Stage first_stage(Move move) { return move == Move::free ? Stage::rest : Stage::bonds; }

/// Parameters of a launch, in the precision of the state.
template <class S>
struct SystemNumbers {
  StepNumbers<S> step;
  StepPasses passes;
  Thermostat thermostat;
  OutsideForces<S> outside;
  Biases biases;  ///< on the tile path and of ring polymers in memory
  PairParameters<S> pair;
  int molecules;
};
using ClusterSystem = SystemNumbers<double>;

template <class S>
SystemNumbers<S> rounded_system(const ClusterSystem& s) {
  if constexpr (std::is_same_v<S, double>) {
    return s;
  } else {
    return {rounded_to_float(s.step),
            s.passes,
            s.thermostat,
            rounded_to_float(s.outside),
            s.biases,
            rounded_parameters<float>(s.pair),
            s.molecules};
  }
}

/// Calls op<S, R, kMSite>() with the types of the state (S) and of pairs (R) for a precision.
template <class Op>
void with_numbers(Precision precision, bool m_site, const Op& op) {
  const auto with = [&]<class S, class R>() {
    m_site ? op.template operator()<S, R, true>() : op.template operator()<S, R, false>();
  };
  if (precision == Precision::single) {
    with.template operator()<float, float>();
  } else if (precision == Precision::mixed) {
    with.template operator()<double, float>();
  } else {
    with.template operator()<double, double>();
  }
}

/// Calls op<R, kMSite>() with the type of pairs for a precision other than single.
template <class Op>
void with_pairs(Precision precision, bool m_site, const Op& op) {
  const auto with = [&]<class R>() {
    m_site ? op.template operator()<R, true>() : op.template operator()<R, false>();
  };
  precision == Precision::mixed ? with.template operator()<float>()
                                : with.template operator()<double>();
}

/// Calls op<kFlexible>() for the molecules of a system.
template <class Op>
void with_bonds(const ClusterSystem& system, const Op& op) {
  is_flexible(system.passes.end) ? op.template operator()<true>() : op.template operator()<false>();
}

/// Calls op<S, R, kMSite, kFlexible>().
template <class Op>
void with_cluster(const ClusterSystem& system, Precision precision, bool m_site, const Op& op) {
  with_numbers(precision, m_site, [&]<class S, class R, bool kMSite>() {
    with_bonds(system,
               [&]<bool kFlexible>() { op.template operator()<S, R, kMSite, kFlexible>(); });
  });
}

/// The state of a molecule in precision S, and its conversion from doubles in memory.
template <class S>
struct StateInMemory {
  using type = MoleculeState<double>;
  TARN_HD static type of(const MoleculeState<double>& s) { return s; }
};
template <>
struct StateInMemory<float> {
  using type = SingleState<float, std::uint32_t>;
  TARN_HD static type of(const MoleculeState<double>& s) {
    return {fixed_position(s.x), rounded(s.v), rounded(s.a)};
  }

 private:
  TARN_HD static Triple<float> rounded(const Triple<double>& a) {
    const auto atom = [](const Vec3<double>& v) -> Vec3<float> {
      return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
    };
    return {atom(a.o), atom(a.h1), atom(a.h2)};
  }
};
TARN_HD Triple<double> widened(const Triple<float>& a) {
  const auto atom = [](const Vec3<float>& v) -> Vec3<double> { return {v.x, v.y, v.z}; };
  return {atom(a.o), atom(a.h1), atom(a.h2)};
}
TARN_HD const Triple<double>& widened(const Triple<double>& a) { return a; }
TARN_HD const MoleculeState<double>& in_double(const MoleculeState<double>& s) { return s; }
TARN_HD MoleculeState<double> in_double(const SingleState<float, std::uint32_t>& s) {
  return {position_of(s.x), widened(s.v), widened(s.a)};
}

/// The lane type of W that corresponds to the scalar type S.
template <class W, class S>
using lane_t = std::conditional_t<std::is_same_v<S, double>, typename W::Double, typename W::Float>;
template <class W, class R>
inline constexpr bool kFloatPairs = std::is_same_v<R, typename W::Float>;

template <class W>
TARN_HD Vec3<typename W::Float> rounded(const Vec3<typename W::Double>& a) {
  return {W::to_float(a.x), W::to_float(a.y), W::to_float(a.z)};
}
template <class W>
TARN_HD Vec3<typename W::Double> widened(const Vec3<typename W::Float>& a) {
  return {W::to_double(a.x), W::to_double(a.y), W::to_double(a.z)};
}

template <class W, class R, bool kMSite>
TARN_HD PairSite<R> make_site(const Triple<typename W::Double>& x, double m_weight) {
  using D = typename W::Double;
  const SiteOffsets<D> d = site_offsets<kMSite>(x, D(m_weight));
  PairSite<R> s{};
  if constexpr (kFloatPairs<W, R>) {
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

template <class W, class R, bool kMSite, class U>
TARN_HD PairSite<R> make_site(const FixedPosition<U>& x, float m_weight) {
  return {oxygen_cell<R>(x), oxygen_in_cell<R>(x),
          site_offsets<kMSite>(from_oxygen<R>(x), R(m_weight))};
}
/// Positions in float, relative to the cell of one molecule of the cluster.
template <class R>
TARN_HD Triple<R> positions_from(const Vec3<R>& cell, const PairSite<R>& s) {
  const Vec3<R> o = (s.o - cell) + s.o_low;
  return {o, o + s.d.h1, o + s.d.h2};
}

template <class W, class T>
TARN_HD Vec3<T> shuffled(const W& w, const Vec3<T>& a, const typename W::Index& from) {
  return {w.shuffle(a.x, from), w.shuffle(a.y, from), w.shuffle(a.z, from)};
}
template <class W, class T>
TARN_HD Triple<T> shuffled(const W& w, const Triple<T>& a, const typename W::Index& from) {
  return {shuffled(w, a.o, from), shuffled(w, a.h1, from), shuffled(w, a.h2, from)};
}

/// The vector between two oxygens, or for pairs that do not count one so long that all forces are
/// exactly zero: cheaper than masking nine forces.
template <class R>
TARN_HD Vec3<R> no_force_unless(const mask_t<R>& counts, const Vec3<R>& r) {
  constexpr double far = std::is_same_v<scalar_t<R>, float> ? 1e18 : 1e150;
  return {select(counts, r.x, R(static_cast<scalar_t<R>>(far))), r.y, r.z};
}

/// Converts sums of pair forces to the precision of the state.
template <class W, class T, class R>
TARN_HD SiteForces<T> as_sums(const SiteForces<R>& f) {
  if constexpr (std::is_same_v<T, R>) {
    return f;
  } else {
    return {widened<W>(f.o), widened<W>(f.h1), widened<W>(f.h2), widened<W>(f.m)};
  }
}

/// All forces but those of the bonds: pairs in precision R, each computed once, and those from
/// outside.
/// @tparam kOrder does not change the result
/// @param x positions in the format of the state
template <class W, class R, bool kMSite, PairOrder kOrder = PairOrder::one_by_one, class S, class X>
TARN_HD Triple<lane_t<W, S>> cluster_forces(const W& w, const SystemNumbers<S>& system,
                                            const PairParameters<scalar_t<R>>& pair, const X& x) {
  using T = lane_t<W, S>;
  constexpr bool floats = kFloatPairs<W, R>;
  const PairSite<R> own = make_site<W, R, kMSite>(x, system.pair.m_weight);
  SiteForces<R> f = no_site_forces<R>();
  for (int k = 1; k <= w.rounds(); ++k) {
    const auto from = w.partner(k);
    PairSite<R> other{};
    other.o = shuffled(w, own.o, from);
    if constexpr (floats) other.o_low = shuffled(w, own.o_low, from);
    other.d.h1 = shuffled(w, own.d.h1, from);
    other.d.h2 = shuffled(w, own.d.h2, from);
    if constexpr (kMSite) other.d.m = shuffled(w, own.d.m, from);
    const Vec3<R> r = no_force_unless<R>(w.template pair<R>(k), oxygen_vector(own, other));
    SiteForces<R> on_other = no_site_forces<R>();
    add_pair_forces<kMSite, kOrder>(pair, r, own.d, other.d, AllLanes{}, f, on_other);
    // Return the force on the partner to the partner's lane.
    const auto back = w.meeting(k);
    f.o = f.o + shuffled(w, on_other.o, back);
    f.h1 = f.h1 + shuffled(w, on_other.h1, back);
    f.h2 = f.h2 + shuffled(w, on_other.h2, back);
    if constexpr (kMSite) f.m = f.m + shuffled(w, on_other.m, back);
  }
  Triple<T> on_atoms = forces_on_atoms<kMSite>(as_sums<W, T>(f), T(system.pair.m_weight));
  const T per_molecule = T(S(1) / static_cast<S>(system.molecules));
  if constexpr (floats) {
    on_atoms =
        remove_net_force(on_atoms, per_molecule * w.sum(total(on_atoms)), system.step.masses);
  }
  if (system.outside.act()) {
    const Masses<S>& m = system.step.masses;
    const auto add_outside = [&](const Triple<T>& at) {
      const T share = T(S(1) / (static_cast<S>(system.molecules) * (m.o + S(2) * m.h)));
      const Vec3<T> centre = share * w.sum(mass_moment(at, m));
      const Vec3<T> push = wall_force(at.o - centre, system.outside);
      on_atoms.o = on_atoms.o + push;
      on_atoms = with_field(on_atoms, system.outside);
      on_atoms = remove_net_force(on_atoms, per_molecule * w.sum(push), m);
    };
    if constexpr (std::is_same_v<S, double>) {
      add_outside(x);
    } else {
      add_outside(positions_from(shuffled(w, own.o, w.first()), own));
    }
  }
  return on_atoms;
}

/// All forces on the beads of ring polymers, with those of the bonds.
/// @param x positions of the beads
template <class W, class R, bool kMSite>
TARN_HD Triple<typename W::Double> bead_forces(const W& w, const ClusterSystem& system,
                                               const PairParameters<scalar_t<R>>& pair,
                                               const Triple<typename W::Double>& x) {
  const Triple<typename W::Double> f = cluster_forces<W, R, kMSite>(w, system, pair, x);
  return f + intramolecular_force(x, system.step.flexible);
}

/// Sets velocities of failed lanes to NaN; the check at the end of the step then stops the replica.
template <class Mask, class M>
TARN_HD void poison(const Mask& good, M& s) {
  using T = decltype(s.v.o.x);
  s.v.o.x = select(good, s.v.o.x, T(static_cast<scalar_t<T>>(kNoNumber)));
}

/// Initial accelerations, a function of the positions only; v is unchanged.
/// @param s state of a molecule @param f out: the forces
template <class W, class R, bool kMSite, bool kFlexible, class S, class M>
TARN_HD void prepare_cluster(W& w, const SystemNumbers<S>& system,
                             const PairParameters<scalar_t<R>>& pair, std::int64_t step, M& s,
                             Triple<lane_t<W, S>>& f) {
  using T = lane_t<W, S>;
  const T zero = T(S(0));
  f = cluster_forces<W, R, kMSite>(w, system, pair, s.x);
  const Triple<T> v = s.v;
  const mask_t<T> good = end_step_of<kFlexible>(system.step, system.passes.end, f, s);
  // Overlapping atoms lead to accelerations that are not finite, or to a failed projection.
  // c - c is 0 for finite numbers only.
  const Triple<T> none = fma(zero, s.v, s.a - s.a);
  s.v = v;
  const T finite = total(none).x + total(none).y + total(none).z;
  w.keep(s);
  w.stop(!((finite == zero) & good), step, s);
}

/// Steps first .. first + n - 1.
template <class W, class R, bool kMSite, bool kFlexible, class S, class M>
TARN_HD void advance_cluster(W& w, const SystemNumbers<S>& system,
                             const PairParameters<scalar_t<R>>& pair, std::int64_t first,
                             std::int64_t n, M& s, Triple<lane_t<W, S>>& v_thermal) {
  using T = lane_t<W, S>;
  const bool baoab = system.thermostat == Thermostat::baoab;
  for (std::int64_t step = first; step < first + n; ++step) {
    if (step % kKeptSteps == 0) w.keep(s);
    w.begin_stages(step);
    Triple<T> f;
    if constexpr (W::kRings) {
      begin_ring(w.mode(), T(system.step.h), s, [&](M& m) {
        if (!baoab) return;
        ring_noise(w.mode(), w.template normals<T>(step), m, w.heat_tally());
        if (step == first + n - 1) w.store_thermal(m.v);
      });
      w.end_stage(system.thermostat == Thermostat::none ? Stage::rest : Stage::noise, step);
      const Triple<T> beads = w.to_beads(s.x);
      w.end_stage(Stage::rest, step);
      f = bead_forces<W, R, kMSite>(w, system, pair, beads);
      w.end_stage(Stage::pairs, step);
      s.a = scale(T(system.step.masses.inverse_o), T(system.step.masses.inverse_h), w.to_modes(f));
      kick(s, T(system.step.h));
    } else {
      StepStatus<T> status;
      if (baoab) {
        const Triple<T> normals = w.template normals<T>(step);
        w.end_stage(Stage::noise, step);
        status = begin_baoab(system.step, system.passes.move, normals, w.template kick_scale<T>(),
                             s, v_thermal, w.heat_tally());
      } else {
        status = begin_step(system.step, system.passes.move, s);
      }
      poison(status.good, s);
      w.record(status);
      if (!is_constrained(system.passes.move)) w.indefinite(status.good);
      w.end_stage(first_stage(system.passes.move), step);
      // On GPUs more of the roots overlap in this order, if there are enough registers.
      constexpr PairOrder order =
          std::is_same_v<T, R> ? PairOrder::two_sites : PairOrder::one_by_one;
      f = cluster_forces<W, R, kMSite, order>(w, system, pair, s.x);
      w.end_stage(Stage::pairs, step);
      const mask_t<T> definite = end_step_of<kFlexible>(system.step, system.passes.end, f, s);
      w.indefinite(definite);
      poison(definite, s);
    }
    // Checked before the noise, on the same velocities in all schemes.
    w.stop(is_too_fast(s.v, w.largest_speed2()), step + 1, s);
    w.end_stage(W::kRings ? Stage::rest : Stage::bonds, step);
    if (system.thermostat == Thermostat::gla) {
      if constexpr (W::kRings) {
        ring_noise(w.mode(), w.template normals<T>(step), s, w.heat_tally());
      } else {
        thermostat_step(system.step, system.passes.move, w.template normals<T>(step),
                        w.template kick_scale<T>(), s, w.heat_tally());
      }
      w.end_stage(Stage::noise, step);
    }
  }
}

}  // namespace tarn::inline TARN_ARCH
