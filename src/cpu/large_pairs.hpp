#pragma once

#include "pair_sites.hpp"

/// @file
/// Pair forces of large clusters; a lane is a molecule.

namespace tarn::inline TARN_ARCH {
namespace {

using cpu::LargePairs;

template <bool kMSite, class Precision>
void build_sites(const LargePairs& args, const PairParameters<double>& parameters, int first_pack,
                 int last_pack) {
  using T = typename Precision::T;
  constexpr int lanes = Pack<T>::lanes;
  T* sites = static_cast<T*>(args.sites);
  for (int p = first_pack; p < last_pack; ++p) {
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
TARN_HD int full_packs_in_block(const LargePairs& args, int lanes) {
  return (args.molecules / lanes + args.blocks - 1) / args.blocks;
}
/// The full packs of a block, in order. A pack that is not full belongs to no block: it is used as
/// a pack of rows only, so that partners are always full packs.
TARN_HD PackRange packs_of_block(int block, const LargePairs& args, int lanes) {
  const int full = args.molecules / lanes, each = full_packs_in_block(args, lanes);
  const int first = block * each, last = first + each;
  return {first < full ? first : full, last < full ? last : full};
}
/// Number of blocks that store forces on a pack: all, or those up to its own block if tasks pair a
/// block with all later ones; none for a pack without molecules.
TARN_HD int blocks_that_meet(int pack, const LargePairs& args, int lanes) {
  if (pack * lanes >= args.molecules) return 0;
  const bool some =
      pack < args.molecules / lanes && cpu::pairs_with_all_later_blocks(args.molecules);
  return some ? pack / full_packs_in_block(args, lanes) + 1 : args.blocks;
}
/// Offset in LargePairs::block_f of the forces of a block on a pack.
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

/// The pairs among the rows of one pack, each once: the pack is paired with itself, rotated by 1,
/// 2,
/// ... half its lanes. Calls op(site_i, site_j, r, lanes) for each turn; lane l has row l as i and
/// row l + turn as j.
template <bool kMSite, class T, class Op>
TARN_HD void for_each_pair_within(const T* site, int rows, const Op& op) {
  using P = Pack<T>;
  constexpr int lanes = P::lanes;
  const PairSite<P> own = load_site<kMSite>(site);
  PairSite<P> other = own;
  const P number = lane_numbers<T>();
  P other_number = number;
  const auto next = [&]() __attribute__((always_inline)) {
    other.o = rotated(other.o);
    if constexpr (sizeof(T) == 4) other.o_low = rotated(other.o_low);
    other.d.h1 = rotated(other.d.h1);
    other.d.h2 = rotated(other.d.h2);
    if constexpr (kMSite) other.d.m = rotated(other.d.m);
    other_number = rotate_lanes(other_number);
    return oxygen_vector(own, other);
  };
  int turn = 1;
  if (rows == lanes) {
    for (; turn < lanes / 2; ++turn) op(own, other, next(), AllLanes{});
  }
  for (; turn <= lanes / 2; ++turn) {
    const Vec3<P> r = next();
    // In the last turn each pair occurs twice.
    const int last = turn < lanes / 2 || rows < lanes / 2 ? rows : lanes / 2;
    const SomeLanes<P> some{(number < P(static_cast<T>(last))) &
                            (other_number < P(static_cast<T>(rows)))};
    op(own, other, far_elsewhere(r, some), some);
  }
}

/// Adds forces to those at `at`, or stores them if they are the first.
template <bool kMSite, class T>
TARN_HD void add_to(T* at, bool first, const SiteForces<Pack<T>>& f) {
  SiteForces<Pack<T>> sum = f;
  if (!first) add<kMSite>(load_site_forces<kMSite>(at), sum);
  store_site_forces<kMSite>(sum, at);
}

/// Forces on molecules to be summed over the lanes: [component][molecule].
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
  /// The sums, with one molecule per lane. Overwrites the numbers.
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
/// @param f_partners in and out: forces on the partners
/// @return forces on the rows, one per lane
template <bool kMSite, PairOrder kOrder, class T>
TARN_HD SiteForces<Pack<T>> meet(const PairParameters<T> p, const T* own_site, int rows,
                                 const T* partner_sites, int partners,
                                 SiteForces<Pack<T>>* f_partners) {
  using P = Pack<T>;
  constexpr int site_size = kSiteComponents * P::lanes;
  ForcesToSum<kMSite, P> f_rows;
  for (int row = 0; row < rows; ++row) {
    const PairSite<P> i = broadcast_site<kMSite>(own_site, row);
    SiteForces<P> f_i = no_site_forces<P>();
    for (int partner = 0; partner < partners; ++partner) {
      const PairSite<P> j = load_site<kMSite>(partner_sites + partner * site_size);
      add_pair_forces<kMSite, kOrder>(p, oxygen_vector(i, j), i.d, j.d, AllLanes{}, f_i,
                                      f_partners[partner]);
    }
    f_rows.set(row, f_i);
  }
  for (int row = rows; row < P::lanes; ++row) f_rows.set(row, no_site_forces<P>());
  return f_rows.sum();
}

/// Forces between the first `rows` molecules of one pack, one per lane.
template <bool kMSite, PairOrder kOrder, class T>
TARN_HD SiteForces<Pack<T>> meet_itself(const PairParameters<T> p, const T* site, int rows) {
  using P = Pack<T>;
  SiteForces<P> f_own = no_site_forces<P>(), f_other = no_site_forces<P>();
  // Forced inlining keeps the sums in registers.
  for_each_pair_within<kMSite>(
      site, rows,
      [&](const auto& i, const auto& j, const auto& r, const auto& some)
          __attribute__((always_inline)) {
            f_other = rotated<kMSite>(f_other);
            add_pair_forces<kMSite, kOrder>(p, r, i.d, j.d, some, f_own, f_other);
          });
  // The lanes have been rotated by half their number.
  for (int turn = P::lanes / 2; turn < P::lanes; ++turn) f_other = rotated<kMSite>(f_other);
  add<kMSite>(f_other, f_own);
  return f_own;
}

/// Side of a square of pairs, in molecules, that fits into the first-level cache.
inline constexpr int kSquare = 128;

template <bool kMSite, class Precision, PairOrder kOrder>
void large_pairs(const LargePairs& args, const PairParameters<double>& parameters) {
  using T = typename Precision::T;
  using P = Pack<T>;
  constexpr int lanes = P::lanes, side = kSquare / lanes;
  constexpr int site_size = kSiteComponents * lanes;
  const PairParameters<T> p = rounded_parameters<T>(parameters);
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
                   meet_itself<kMSite, kOrder>(p, sites + rest_pack * site_size, rest));
  }
  SiteForces<P> f_partners[side];
  for (int first_row = rows.first; first_row < rows.last; first_row += side) {
    const int last_row = first_row + side < rows.last ? first_row + side : rows.last;
    const bool first_of_rows = first_row == rows.first;
    for (int first = diagonal ? first_row : partners.first; first < partners.last; first += side) {
      const int last = first + side < partners.last ? first + side : partners.last;
      const auto meet_packs = [&](int own, int n, int from, int to) {
        return meet<kMSite, kOrder>(p, sites + own * site_size, n, sites + from * site_size,
                                    to - from, f_partners + (from - first));
      };
      for (int k = 0; k < last - first; ++k) f_partners[k] = no_site_forces<P>();
      if (diagonal && first == first_row) {
        for (int own = first_row; own < last_row; ++own) {
          SiteForces<P>& f_own = f_partners[own - first];
          add<kMSite>(meet_packs(own, lanes, own + 1, last), f_own);
          add<kMSite>(meet_itself<kMSite, kOrder>(p, sites + own * site_size, lanes), f_own);
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
    for (SiteForces<D>& s : sum) s = no_site_forces<D>();
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
      const PairSite<D> site_j = load_site<kMSite>(sites + j * site_size);
      for (int row = 0; row < rows; ++row) {
        const PairSite<D> site_i = broadcast_site<kMSite>(own_site, row);
        add_pair_energy<kMSite>(p, oxygen_vector(site_i, site_j), site_i.d, site_j.d, AllLanes{}, c,
                                l);
      }
    }
  }
  *coulomb = sum_lanes(c);
  *lj = sum_lanes(l);
}

}  // namespace
}  // namespace tarn::inline TARN_ARCH
