#pragma once

#include "pack_memory.hpp"
#include "physics/bias.hpp"
#include "physics/noise.hpp"
#include "steps/step_program.hpp"

/// @file
/// Passes over molecules: all parts of a step but the pair forces. Molecules are independent but
/// for sums over a cluster.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::MoleculePacks;
using cpu::NewmarkCorrection;
using cpu::PackLanes;
using cpu::PassReport;
using cpu::SinglePacks;

/// What a pass over molecules changes and therefore stores.
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

/// A pack of doubles: molecule `number` of a sub-block of replicas, or pack `number` of molecules
/// (in sub-block 0).
struct DoublePack {
  int sub_block, number;
};
TARN_HD DoublePack double_pack(const PackLanes& packs, int p) {
  if (!packs.lanes_are_replicas) return {0, p};
  return {p / packs.molecules, p % packs.molecules};
}
/// The pack of doubles that corresponds to one half of the lanes of pack p of floats.
TARN_HD DoublePack half_of_pack(const PackLanes& packs, int p, int half) {
  return packs.lanes_are_replicas ? DoublePack{half, p} : DoublePack{0, 2 * p + half};
}

/// The numbers of the lanes of a pack, which are replicas or molecules.
TARN_HD D numbers_of(const double* numbers, const PackLanes& packs, const DoublePack& p) {
  return D::load(numbers + (packs.lanes_are_replicas ? p.sub_block : p.number) * kLanes);
}
TARN_HD D lanes_of(const double* numbers, const MoleculePacks& packs, int p) {
  return numbers_of(numbers, packs, double_pack(packs, p));
}
TARN_HD F lanes_of(const double* numbers, const SinglePacks& packs, int p) {
  return round_to_float(numbers_of(numbers, packs, half_of_pack(packs, p, 0)),
                        numbers_of(numbers, packs, half_of_pack(packs, p, 1)));
}

/// The state in packs of double or single precision, and its number type.
template <class Packs>
using State = decltype(load_state(std::declval<Packs>(), 0));
template <class Packs>
using Number = number_t<State<Packs>>;

/// The masses of isotopes in pack p, and their noise.
TARN_HD D isotope_number(const PackLanes& packs, int p, int number) {
  return packs.lanes_are_replicas
             ? D(packs.isotopes[p % packs.molecules * cpu::kIsotopeNumbers + number])
             : D::load(packs.isotopes + (p * cpu::kIsotopeNumbers + number) * kLanes);
}
TARN_HD AtomMasses<D> isotope_masses(const PackLanes& packs, int p) {
  const auto at = [&](int number) { return isotope_number(packs, p, number); };
  return {at(0), at(1), at(2), at(3), at(4), at(5), at(6)};
}
TARN_HD AtomOuParameters<D> isotope_ou(const PackLanes& packs, int p) {
  const auto at = [&](int number) { return isotope_number(packs, p, cpu::kIsotopeOu + number); };
  return {at(0), at(1), at(2), at(3), at(4), at(5)};
}
/// The parameters of the step for pack p.
template <bool kIsotopes, class S, class Packs>
TARN_HD decltype(auto) numbers_of_pack(const StepNumbers<S>& q, const Packs& packs, int p) {
  if constexpr (kIsotopes) {
    return with_isotopes(q, isotope_masses(packs, p), isotope_ou(packs, p));
  } else {
    return (q);
  }
}
/// The masses of pack p.
template <bool kIsotopes, class S>
TARN_HD decltype(auto) masses_of_pack(const Masses<S>& m, const PackLanes& packs, int p) {
  if constexpr (kIsotopes) {
    return isotope_masses(packs, p);
  } else {
    return (m);
  }
}

/// Calls step(pack number, state) for a pack and stores the changed part.
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
  if (any(is_too_fast(s.v)) && report.bad_pack < 0) report.bad_pack = p;
}

/// Sets velocities of failed lanes to NaN; the check at the end of the step then reports them.
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
/// Counts the iterations of running replicas.
template <class Packs, class P>
TARN_HD void count_iterations(const Packs& packs, int p, const P& iterations, PassReport& report) {
  using T = scalar_t<P>;
  const P real = packs.lanes_are_replicas
                     ? iterations * lanes_of(packs.running, packs, p)
                     : select(lane_numbers<T>() < P(static_cast<T>(packs.molecules - p * P::lanes)),
                              iterations, P(T(0)));
  report.iterations += static_cast<std::int64_t>(sum_lanes(real));
}
template <Move kMove, class Packs, class M>
TARN_HD void record_status(const Packs& packs, int p, const StepStatus<number_t<M>>& status, M& s,
                           PassReport& report) {
  if constexpr (kMove == Move::newton || kMove == Move::sweeps) {
    mark_bad(status.good, s);
    count_iterations(packs, p, status.iterations, report);
  } else if constexpr (kMove == Move::newmark_full) {
    flag_indefinite(status.good, s, report);
  }
}

// The parts of a step for one pack.

template <Move kMove, class Q, class Packs>
TARN_HD void begin_at(const Q& q, const Packs& packs, int p, State<Packs>& s, PassReport& report) {
  record_status<kMove>(packs, p, begin_step(q, kMove, s), s, report);
}
template <class Packs>
TARN_HD auto load_forces(const Packs& packs, int p) {
  return load_triple(packs.f + nine_at<Number<Packs>>(p));
}
/// @param presolved result of presolve()
template <End kEnd, class Q, class Packs, class Presolved>
TARN_HD void end_at(const Q& q, const Packs& packs, int p, const Presolved& presolved,
                    State<Packs>& s, PassReport& report) {
  const auto good = end_step<kEnd>(q, load_forces(packs, p), presolved, s);
  if constexpr (kEnd == End::full) flag_indefinite(good, s, report);
  check(p, s, report);
}

// Passes copy the parameters of the step: no store can alias the copy, so they are loaded once.

template <bool kIsotopes>
void correct_newmark(const StepParameters& parameters, const MoleculePacks& packs,
                     const NewmarkCorrection& args) {
  const int rows = packs.lanes_are_replicas ? packs.molecules : packs.last_pack;
  for (int first = packs.first_pack; first < packs.last_pack; first += rows) {
    const std::ptrdiff_t lanes = static_cast<std::ptrdiff_t>(first / rows) * kLanes;
    const Mask<double> active = D(0.0) < D::load(args.active + lanes);
    D change2(0.0), size2(0.0);
    double cluster_change2 = 0.0, cluster_size2 = 0.0;
    for (int p = first; p < first + rows; ++p) {
      const std::ptrdiff_t at = nine_at(p);
      const Triple<D> q = load_triple(args.q + at), a = load_triple(packs.a + at);
      const Triple<D> d = pushforward_newmark_correction(
          q, a, load_triple(packs.f + at), parameters.bonds,
          masses_of_pack<kIsotopes>(parameters.masses, packs, p), parameters.zss);
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

template <End kEnd, bool kIsotopes, class S, class Packs>
PassReport end_pass(const StepNumbers<S>& numbers, const Packs& packs) {
  const StepNumbers<S> all = numbers;
  PassReport report;
  for_each_pack<kChangesVA>(packs, [&](int p, State<Packs>& s) {
    const auto& q = numbers_of_pack<kIsotopes>(all, packs, p);
    end_at<kEnd>(q, packs, p, presolve<kEnd>(q, load_forces(packs, p), s), s, report);
  });
  return report;
}
/// The second kick, for accelerations that were solved elsewhere.
PassReport end_kick(const StepParameters& q, const MoleculePacks& packs) {
  PassReport report;
  for_each_pack<kChangesV>(packs, [&](int p, MoleculeState<D>& s) {
    kick(s, D(q.h));
    check(p, s, report);
  });
  return report;
}

/// The noise of the molecules in the lanes of two packs of doubles. Not inlined because many passes
/// call it.
[[gnu::noinline]] Triple<F> normals_of(const PhiloxKeys& seed, const PackLanes& packs,
                                       const DoublePack& low, const DoublePack& high,
                                       std::int64_t step_number) {
  using U64 = Pack<std::uint64_t>;
  const auto step = static_cast<std::uint64_t>(step_number);
  const auto normals = [&](const auto& name) {
    return molecule_normals(seed, {name(low), name(high)}, step, NoiseStream::thermostat);
  };
  if (packs.lanes_are_replicas) {
    return normals([&](const DoublePack& p) -> NoisePack<U64, std::uint64_t> {
      return {U64::load(packs.replica_ids + p.sub_block * kLanes),
              static_cast<std::uint64_t>(p.number)};
    });
  }
  return normals([&](const DoublePack& p) -> NoisePack<std::uint64_t, U64> {
    return {packs.replica_ids[0],
            lane_numbers<std::uint64_t>() + U64(static_cast<std::uint64_t>(p.number * kLanes))};
  });
}
TARN_HD Triple<F> normals_of(const PhiloxKeys& seed, const MoleculePacks& packs, int first,
                             int last, std::int64_t step) {
  return normals_of(seed, packs, double_pack(packs, first), double_pack(packs, last), step);
}
TARN_HD Triple<F> normals_of(const PhiloxKeys& seed, const SinglePacks& packs, int p, int,
                             std::int64_t step) {
  return normals_of(seed, packs, half_of_pack(packs, p, 0), half_of_pack(packs, p, 1), step);
}
/// The noise of one of the packs whose noise was generated together.
TARN_HD Triple<D> normals_of_pack(const MoleculePacks&, const Triple<F>& together, int number) {
  return widened_half(together, number);
}
TARN_HD Triple<F> normals_of_pack(const SinglePacks&, const Triple<F>& together, int) {
  return together;
}
/// Calls op(pack number, noise, presolve_at(pack number)) for each pack; noise() is a Triple. The
/// noise is generated for two packs of doubles at a time, after presolve_at of both, and stays in
/// memory as floats until op calls noise().
/// @tparam kNoise whether there is noise; if not, op receives nullptr instead
template <bool kNoise = true, class Packs, class Presolved, class Op>
TARN_HD void for_each_noise(const PhiloxKeys& seed, const Packs& packs, std::int64_t step,
                            const Presolved& presolve_at, const Op& op) {
  constexpr int most = F::lanes / Number<Packs>::lanes;  // one or two
  for (int first = packs.first_pack; first < packs.last_pack; first += most) {
    const int last = most == 1 || first + most > packs.last_pack ? first : first + most - 1;
    decltype(presolve_at(first)) found[most];
    for (int p = first; p <= last; ++p) found[p - first] = presolve_at(p);
    if constexpr (kNoise) {
      const Triple<F> normals = normals_of(seed, packs, first, last, step);
      for (int p = first; p <= last; ++p) {
        op(
            p, [&] { return normals_of_pack(packs, normals, p - first); }, found[p - first]);
      }
    } else {
      for (int p = first; p <= last; ++p) op(p, nullptr, found[p - first]);
    }
  }
}
TARN_HD NoPresolve no_presolve(int) { return {}; }
/// Adds the heat of a thermostat step to that of the molecules in a pack of doubles.
TARN_HD void add_heat_of(const PackLanes& packs, std::ptrdiff_t p, const Triple<D>& before,
                         const Triple<D>& after) {
  double* const at = packs.heat + p * kLanes;
  const D heat = packs.isotopes != nullptr
                     ? ou_heat(isotope_masses(packs, static_cast<int>(p)), before, after)
                     : ou_heat(D(packs.mass_o_Da), D(packs.mass_h_Da), before, after);
  (D::load(at) + heat).store(at);
}
TARN_HD void add_heat(const MoleculePacks& packs, int p, const Triple<D>& before,
                      const Triple<D>& after) {
  add_heat_of(packs, p, before, after);
}
TARN_HD void add_heat(const SinglePacks& packs, int p, const Triple<F>& before,
                      const Triple<F>& after) {
  Triple<D> wide_before[2], wide_after[2];
  widen(before, wide_before);
  widen(after, wide_after);
  for (int half = 0; half < 2; ++half) {
    const DoublePack d = half_of_pack(packs, p, half);
    add_heat_of(packs, d.sub_block * packs.molecules + d.number, wide_before[half],
                wide_after[half]);
  }
}
/// The tally of the thermostat steps of pack p: adds their heat, if it is tallied.
template <class Packs>
struct HeatTally {
  const Packs& packs;
  int p;
  using V = Triple<Number<Packs>>;
  TARN_HD void operator()(const V& before, const V& after) const {
    if (packs.heat != nullptr) add_heat(packs, p, before, after);
  }
};

/// @param tally HeatTally or NoTally
template <Move kMove, class Q, class Packs, class Tally>
TARN_HD void noise_at(const Q& q, const Packs& packs, int p, const Triple<Number<Packs>>& xi,
                      State<Packs>& s, const Tally& tally) {
  thermostat_step(q, kMove, xi, lanes_of(packs.kick_scale, packs, p), s, tally);
}
template <Move kMove, class Q, class Packs, class Tally>
TARN_HD void begin_baoab_at(const Q& q, const Packs& packs, int p, const Triple<Number<Packs>>& xi,
                            State<Packs>& s, PassReport& report, const Tally& tally) {
  Triple<Number<Packs>> v;
  const auto status = begin_baoab(q, kMove, xi, lanes_of(packs.kick_scale, packs, p), s, v, tally);
  store_triple(v, packs.v_thermal + nine_at<Number<Packs>>(p));
  record_status<kMove>(packs, p, status, s, report);
}

template <bool kBaoab, Move kMove, bool kIsotopes, class S, class Packs>
PassReport begin_pass(const StepNumbers<S>& numbers, const Packs& packs, std::int64_t step) {
  const StepNumbers<S> all = numbers;
  PassReport report;
  for_each_noise<kBaoab>(
      all.seed, packs, step, no_presolve, [&](int p, const auto& noise, NoPresolve) {
        const auto& q = numbers_of_pack<kIsotopes>(all, packs, p);
        at_pack<kChangesXV>(packs, p, [&](int, State<Packs>& s) {
          if constexpr (kBaoab) {
            begin_baoab_at<kMove>(q, packs, p, noise(), s, report, HeatTally<Packs>{packs, p});
          } else {
            begin_at<kMove>(q, packs, p, s, report);
          }
        });
      });
  return report;
}
template <Move kMove, bool kIsotopes, class S, class Packs>
void noise_pass(const StepNumbers<S>& numbers, const Packs& packs, std::int64_t step) {
  const StepNumbers<S> all = numbers;
  for_each_noise(all.seed, packs, step, no_presolve, [&](int p, const auto& noise, NoPresolve) {
    const auto& q = numbers_of_pack<kIsotopes>(all, packs, p);
    at_pack<kChangesV>(packs, p, [&](int, State<Packs>& s) {
      noise_at<kMove>(q, packs, p, noise(), s, HeatTally<Packs>{packs, p});
    });
  });
}
/// One move for all with the same noise.
constexpr Move move_of_noise(Move move) {
  return !is_constrained(move) ? Move::free : move == Move::sweeps ? Move::newton : move;
}

/// One pass from the forces of a step to those of the next step: each state is loaded and stored
/// once, and accelerations are not stored. Linear solves, which are long dependency chains, are
/// computed before the noise to overlap with it.
template <cpu::StepKind kKind, bool kIsotopes, class S, class Packs>
PassReport fused_pass(const StepNumbers<S>& numbers, const Packs& packs, const Packs& next,
                      std::int64_t step) {
  constexpr bool baoab = kKind.thermostat == Thermostat::baoab,
                 gla = kKind.thermostat == Thermostat::gla;
  const StepNumbers<S> all = numbers;
  PassReport report;
  const auto presolve_at = [&](int p) TARN_INLINE_LAMBDA {
    return presolve<kKind.end>(numbers_of_pack<kIsotopes>(all, packs, p), load_forces(packs, p),
                               load_state(packs, p));
  };
  const auto at = [&](int p, const auto& noise, const auto& found) TARN_INLINE_LAMBDA {
    const auto& q = numbers_of_pack<kIsotopes>(all, packs, p);
    State<Packs> s = load_state(packs, p);
    end_at<kKind.end>(q, packs, p, found, s, report);
    // Reload the positions instead of spilling them, and load the noise only from here on.
    read_memory_again();
    s.x = load_state(packs, p).x;
    if constexpr (baoab) {
      begin_baoab_at<kKind.move>(q, packs, p, noise(), s, report, NoTally{});
    } else {
      if constexpr (gla) noise_at<kKind.move>(q, packs, p, noise(), s, NoTally{});
      begin_at<kKind.move>(q, packs, p, s, report);
    }
    store_positions(s, next, p);
    store_triple(s.v, next.v + nine_at<Number<Packs>>(p));
  };
  for_each_noise<baoab || gla>(all.seed, packs, baoab ? step + 1 : step, presolve_at, at);
  return report;
}

/// Sums op(pack), a Vec3<P>, over the molecules of each cluster: pack by pack, or lane by lane.
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
/// Calls op(first pack, number of packs) for each cluster, or for each sub-block of replicas.
template <class P, class Op>
TARN_HD void for_each_cluster(const PackLanes& packs, const Op& op) {
  const int cluster_packs =
      packs.lanes_are_replicas ? packs.molecules : (packs.molecules + P::lanes - 1) / P::lanes;
  for (int first = 0; first < packs.last_pack; first += cluster_packs) op(first, cluster_packs);
}
/// Whether pack p belongs to the pass.
TARN_HD bool takes(const PackLanes& packs, int p) {
  return packs.first_pack <= p && p < packs.last_pack;
}

/// Subtracts a net force from the molecules of a cluster, in proportion to mass.
template <bool kIsotopes, class P, class S = scalar_t<P>>
TARN_HD void subtract_net_force(const Vec3<P>& net_force, const PackLanes& packs, int first,
                                int count, const Masses<S>& m, S* f) {
  const Vec3<P> net = P(S(1) / static_cast<S>(packs.molecules)) * net_force;
  const int begin = first > packs.first_pack ? first : packs.first_pack;
  const int end = first + count < packs.last_pack ? first + count : packs.last_pack;
  for (int p = begin; p < end; ++p) {
    S* at = f + nine_at<P>(p);
    const auto& own = masses_of_pack<kIsotopes>(m, packs, p);
    if constexpr (kIsotopes) {
      const P share = P(S(1)) / (own.inverse_all * P(packs.cluster_Da));
      store_triple(remove_net_force(load_triple(at), share * net_force, own), at);
    } else {
      store_triple(remove_net_force(load_triple(at), net, own), at);
    }
  }
}

/// Adds the forces of the field, and push(p) to the oxygens of a cluster, whose sum is subtracted
/// from all molecules.
template <bool kIsotopes = false, class S, class Push>
TARN_HD void add_outside_forces(const PackLanes& packs, int first, int count, const Masses<S>& m,
                                const OutsideForces<S>& outside, S* f, const Push& push) {
  using P = Pack<S>;
  const Vec3<P> net = sum_over_cluster<P>(packs, first, count, [&](int p) {
    const Vec3<P> of_pack = push(p);
    S* at = f + nine_at<P>(p);
    if (takes(packs, p)) {
      const Triple<P> sum = with_field(load_triple(at), outside);
      store_triple(Triple<P>{sum.o + of_pack, sum.h1, sum.h2}, at);
    }
    return of_pack;
  });
  subtract_net_force<kIsotopes>(net, packs, first, count, m, f);
}

template <bool kIsotopes>
void confine(const MoleculePacks& packs, const Masses<double>& m,
             const OutsideForces<double>& outside, double* f) {
  const double cluster_mass = kIsotopes ? packs.cluster_Da : packs.molecules * (m.o + 2.0 * m.h);
  for_each_cluster<D>(packs, [&](int first, int count) {
    const Vec3<D> centre =
        D(1.0 / cluster_mass) * sum_over_cluster<D>(packs, first, count, [&](int p) {
          return mass_moment(load_triple(packs.x + nine_at(p)),
                             masses_of_pack<kIsotopes>(m, packs, p));
        });
    add_outside_forces<kIsotopes>(packs, first, count, m, outside, f, [&](int p) {
      return wall_force(load_vec3(packs.x + nine_at(p)) - centre, outside);
    });
  });
}

/// Offset of the three numbers of pack p.
template <class P>
TARN_HD std::ptrdiff_t three_at(int p) {
  return static_cast<std::ptrdiff_t>(p) * 3 * P::lanes;
}
template <class S, class Packs>
void total_forces(const Packs& packs, const S* f, S* totals) {
  using P = Number<Packs>;
  for (int p = packs.first_pack; p < packs.last_pack; ++p) {
    store_vec3(total(load_triple(f + nine_at<P>(p))), totals + three_at<P>(p));
  }
}
/// Subtracts the net force that rounded pair forces leave, in proportion to mass.
template <bool kIsotopes, class S, class Packs>
void remove_net_force_of_cluster(const Packs& packs, const Masses<S>& m, const S* totals, S* f) {
  using P = Number<Packs>;
  for_each_cluster<P>(packs, [&](int first, int count) {
    const Vec3<P> net = sum_over_cluster<P>(packs, first, count, [&](int p) {
      return totals != nullptr ? load_vec3(totals + three_at<P>(p))
                               : total(load_triple(f + nine_at<P>(p)));
    });
    subtract_net_force<kIsotopes>(net, packs, first, count, m, f);
  });
}

void add_bias(const MoleculePacks& packs, const BiasTerm& bias, const double* centres, double* f) {
  for_each_cluster<D>(packs, [&](int first, int count) {
    if (packs.lanes_are_replicas) {
      const D centre = D::load(centres + first / count * D::lanes);
      bias_forces(
          bias, count, centre, [&](int k) { return load_vec3(packs.x + nine_at(first + k)); },
          [&](int k, const Vec3<D>& push) {
            double* const at = f + nine_at(first + k);
            store_vec3(load_vec3(at) + push, at);
          });
      return;
    }
    const auto at = [](int k) { return nine_at(k / D::lanes) + k % D::lanes; };
    bias_forces(
        bias, packs.molecules, *centres,
        [&](int k) -> Vec3<double> {
          const double* const x = packs.x + at(k);
          return {x[0], x[D::lanes], x[2 * D::lanes]};
        },
        [&](int k, const Vec3<double>& push) {
          if (!takes(packs, k / D::lanes)) return;
          double* const to = f + at(k);
          to[0] += push.x;
          to[D::lanes] += push.y;
          to[2 * D::lanes] += push.z;
        });
  });
}

void report_positions(const StepParameters& q, const MoleculePacks& packs, double* out) {
  for (int p = packs.first_pack; p < packs.last_pack; ++p) {
    const std::ptrdiff_t at = nine_at(p);
    const MoleculeState<D> s{load_triple(packs.x + at), {}, load_triple(packs.a + at)};
    store_triple(pushed_back(s, D(q.bh2)), out + at);
  }
}

template <bool kIsotopes>
void project_velocities_of(const Masses<double>& m, const MoleculePacks& packs, double* out) {
  for (int p = packs.first_pack; p < packs.last_pack; ++p) {
    const std::ptrdiff_t at = nine_at(p);
    store_triple(project_velocities(load_triple(packs.x + at), load_triple(packs.v + at),
                                    masses_of_pack<kIsotopes>(m, packs, p)),
                 out + at);
  }
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
