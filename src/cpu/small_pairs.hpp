#pragma once

#include "pair_sites.hpp"

/// @file
/// Pair forces of small clusters: a lane is a replica or, where that is faster
/// (cpu::molecule_lanes_are_faster), a molecule. Energies with a molecule per lane.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::NarrowPairs;
using cpu::SmallPairs;

/// Numbers of molecules, [component][molecule]. The lanes of a pack may start at any molecule.
template <bool kMSite, class T>
struct Rows {
  using P = Pack<T>;
  T* at;
  int length;

  TARN_HD Vec3<P> vec3(int c, int k) const {
    const T* first = at + c * length + k;
    return {P::load_unaligned(first), P::load_unaligned(first + length),
            P::load_unaligned(first + 2 * length)};
  }
  TARN_HD void put_vec3(const Vec3<P>& a, int c, int k) const {
    T* first = at + c * length + k;
    a.x.store_unaligned(first);
    a.y.store_unaligned(first + length);
    a.z.store_unaligned(first + 2 * length);
  }
  TARN_HD PairSite<P> site(int k) const {
    return site_of<kMSite, T>([&](int c) { return vec3(c, k); });
  }
  TARN_HD void put_site(const PairSite<P>& s, int k) const {
    put_vec3(s.o, 0, k);
    if constexpr (sizeof(T) == 4) put_vec3(s.o_low, 3, k);
    put_vec3(s.d.h1, 6, k);
    put_vec3(s.d.h2, 9, k);
    if constexpr (kMSite) put_vec3(s.d.m, 12, k);
  }
  TARN_HD SiteForces<P> forces(int k) const {
    SiteForces<P> f{vec3(0, k), vec3(3, k), vec3(6, k), {}};
    if constexpr (kMSite) f.m = vec3(9, k);
    return f;
  }
  TARN_HD void put_forces(const SiteForces<P>& f, int k) const {
    put_vec3(f.o, 0, k);
    put_vec3(f.h1, 3, k);
    put_vec3(f.h2, 6, k);
    if constexpr (kMSite) put_vec3(f.m, 9, k);
  }
};

/// Number of molecules, from the first on, that are paired with the molecule `further` places on,
/// cyclically. Each molecule has partners up to n/2 places on; of two opposite molecules only the
/// first has the second as partner.
TARN_HD int molecules_that_meet(int further, int n) { return 2 * further == n ? further : n; }

/// Each pair once: molecule i has the partners i + n/2 ... i + 1 (modulo n). The force on a
/// molecule is the sum of the forces on it as partner j, then as i, then as partner beyond n; sums
/// are in pair precision because there are few partners.
/// @param work space for n + n/2 molecules
/// @param put put(i, forces on the sites of molecule i)
template <bool kMSite, PairOrder kOrder, class T, class Put>
TARN_HD void each_pair_once(int n, const PairParameters<T> p, const T* sites, T* work,
                            const Put& put) {
  using P = Pack<T>;
  constexpr int site_size = kSiteComponents * P::lanes;
  constexpr int force_size = kSiteForceComponents * P::lanes;
  const int half = n / 2;
  // Forces of molecules without pairs so far: read from kNone, or stored as zeros first if there
  // are few vector registers.
  alignas(sizeof(P)) static constexpr T kNone[force_size] = {};
  int reached = 0;  // molecules 1 ... reached have been partners
  const auto forces_as_j = [&](int k) {
    const bool met = !kManyVectorRegisters || (0 < k && k <= reached);
    return load_site_forces<kMSite>(met ? work + k * force_size : kNone);
  };
  if constexpr (!kManyVectorRegisters) {
    for (int k = 0; k < n + half; ++k) {
      store_site_forces<kMSite>(no_site_forces<P>(), work + k * force_size);
    }
  }
  for (int i = 0; i < n; ++i) {
    const PairSite<P> site_i = load_site<kMSite>(sites + i * site_size);
    SiteForces<P> f_i = no_site_forces<P>();
    const int furthest = i + (i < molecules_that_meet(half, n) ? half : half - 1);
    for (int k = furthest; k > i; --k) {
      const PairSite<P> site_j = load_site<kMSite>(sites + (k < n ? k : k - n) * site_size);
      SiteForces<P> f_j = forces_as_j(k);
      add_pair_forces<kMSite, kOrder>(p, oxygen_vector(site_i, site_j), site_i.d, site_j.d,
                                      AllLanes{}, f_i, f_j);
      store_site_forces<kMSite>(f_j, work + k * force_size);
    }
    add<kMSite>(forces_as_j(i), f_i);
    reached = furthest > reached ? furthest : reached;
    if (i < half) {
      store_site_forces<kMSite>(f_i, work + i * force_size);
    } else {
      put(i, f_i);
    }
  }
  for (int i = 0; i < half; ++i) {
    SiteForces<P> f_i = load_site_forces<kMSite>(work + i * force_size);
    add<kMSite>(forces_as_j(n + i), f_i);
    put(i, f_i);
  }
}
template <bool kMSite, class Precision, PairOrder kOrder>
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
  each_pair_once<kMSite, kOrder>(
      n, rounded_parameters<T>(parameters), sites, static_cast<T*>(args.work),
      [&](int i, const SiteForces<Pack<T>>& f_i) {
        SiteForces<D> f[subs];
        to_double<kMSite>(f_i, f);
        for (int s = 0; s < subs; ++s) {
          store_triple(forces_on_atoms<kMSite>(f[s], D(parameters.m_weight)),
                       args.f + (s * n + i) * 9 * kLanes);
        }
      });
}

/// One small cluster with one molecule per lane: a pack of molecules is paired with those n/2 ... 1
/// places further on. The forces have the same bits as those of each_pair_once().
/// @param work see cpu::NarrowPairs
/// @param put put(pack, forces on the sites of its molecules, 0 in lanes without one)
template <bool kMSite, PairOrder kOrder, class T, class Put>
TARN_HD void each_pair_once_in_lanes(int n, const PairParameters<T> p, const T* sites, T* work,
                                     int row_length, const Put& put) {
  using P = Pack<T>;
  constexpr int lanes = P::lanes;
  constexpr int site_size = kSiteComponents * lanes;
  const int half = n / 2, packs = (n + lanes - 1) / lanes;
  const Rows<kMSite, T> rows{work, row_length};
  const Rows<kMSite, T> forces{work + kSiteComponents * row_length, row_length};
  for (int own = 0; own < packs; ++own) {
    rows.put_site(load_site<kMSite>(sites + own * site_size), own * lanes);
  }
  // Up to the partners of the last pack, so that its padding lanes read finite numbers.
  const int end = packs * lanes + half;
  for (int k = 0; n + k < end; k += lanes) rows.put_site(rows.site(k), n + k);
  for (int k = 0; k < end; k += lanes) forces.put_forces(no_site_forces<P>(), k);
  const P lane = lane_numbers<T>();
  const auto lanes_below = [&](int own, int limit) {
    return lane < P(static_cast<T>(limit - own * lanes));
  };
  for (int own = 0; own < packs; ++own) {
    const PairSite<P> site_i = load_site<kMSite>(sites + own * site_size);
    SiteForces<P> f_i = no_site_forces<P>();
    for (int further = half; further > 0; --further) {
      const int limit = molecules_that_meet(further, n);
      if (own * lanes >= limit) continue;
      const int k = own * lanes + further;
      const PairSite<P> site_j = rows.site(k);
      SiteForces<P> f_j = forces.forces(k);
      const Vec3<P> r = oxygen_vector(site_i, site_j);
      if ((own + 1) * lanes <= limit) {
        add_pair_forces<kMSite, kOrder>(p, r, site_i.d, site_j.d, AllLanes{}, f_i, f_j);
      } else {
        const SomeLanes<P> some{lanes_below(own, limit)};
        add_pair_forces<kMSite, kOrder>(p, far_elsewhere(r, some), site_i.d, site_j.d, some, f_i,
                                        f_j);
      }
      forces.put_forces(f_j, k);
    }
    add<kMSite>(forces.forces(own * lanes), f_i);
    forces.put_forces(f_i, own * lanes);
  }
  for (int own = 0; own < packs; ++own) {
    SiteForces<P> f_i = forces.forces(own * lanes);
    if (own * lanes < half) add<kMSite>(forces.forces(n + own * lanes), f_i);
    if ((own + 1) * lanes > n) keep_lanes<kMSite>(SomeLanes<P>{lanes_below(own, n)}, f_i);
    put(own, f_i);
  }
}
template <bool kMSite, class Precision, PairOrder kOrder>
void narrow_pairs(const NarrowPairs& args, const PairParameters<double>& parameters) {
  using T = typename Precision::T;
  constexpr int subs = Precision::sub_blocks;
  const int n = args.molecules;
  each_pair_once_in_lanes<kMSite, kOrder>(
      n, rounded_parameters<T>(parameters), static_cast<const T*>(args.sites),
      static_cast<T*>(args.work), args.row_length, [&](int own, const SiteForces<Pack<T>>& sum) {
        SiteForces<D> wide[subs];
        to_double<kMSite>(sum, wide);
        for (int s = 0; s < subs && (own * subs + s) * kLanes < n; ++s) {
          store_triple(forces_on_atoms<kMSite>(wide[s], D(parameters.m_weight)),
                       args.f + (own * subs + s) * 9 * kLanes);
        }
      });
}

/// Non-bonded energy of one small cluster with one molecule per lane, with the bits of
/// potential_energies(): pair energies are computed as those of molecules i < j, and added in its
/// order.
/// @param args as narrow_pairs() left them, in double precision
/// @param terms work space: see KernelTable::narrow_energy
template <bool kMSite>
double narrow_energy(const NarrowPairs& args, const PairParameters<double>& p, double* terms) {
  const int n = args.molecules, half = n / 2, packs = (n + kLanes - 1) / kLanes;
  const int length = packs * kLanes;
  const Rows<kMSite, double> rows{static_cast<double*>(args.work), args.row_length};
  double* const coulomb_terms = terms;
  double* const lj_terms = terms + half * length;
  for (int further = 1; further <= half; ++further) {
    for (int k = 0; k < molecules_that_meet(further, n); k += kLanes) {
      const PairSite<D> own = rows.site(k), other = rows.site(k + further);
      // Beyond n, the other molecule has the lower number.
      const Mask<double> other_is_first = !(lane_numbers<double>() < D(n - further - k));
      const PairSite<D> i = select_site<kMSite>(other_is_first, other, own);
      const PairSite<D> j = select_site<kMSite>(other_is_first, own, other);
      D coulomb(0.0), lj(0.0);
      add_pair_energy<kMSite>(p, oxygen_vector(i, j), i.d, j.d, AllLanes{}, coulomb, lj);
      coulomb.store(coulomb_terms + (further - 1) * length + k);
      lj.store(lj_terms + (further - 1) * length + k);
    }
  }
  double coulomb = 0.0, lj = 0.0;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      const int further = j - i;
      const int at = further <= half ? (further - 1) * length + i : (n - further - 1) * length + j;
      coulomb += coulomb_terms[at];
      lj += lj_terms[at];
    }
  }
  return coulomb + lj;
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
