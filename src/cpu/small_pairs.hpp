#pragma once

#include "pair_sites.hpp"

/// @file
/// Pair forces of small clusters: a lane is a replica or, where there are few, a molecule.

namespace tarn {
inline namespace TARN_ARCH {
namespace {

using cpu::LargePairs;
using cpu::SmallPairs;

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

}  // namespace
}  // namespace TARN_ARCH
}  // namespace tarn
