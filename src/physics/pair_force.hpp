#pragma once

#include <type_traits>

#include "tarn/physics/triple.hpp"

/// @file
/// The non-bonded interaction of two water molecules, TO (4.2) and equations (3) to (5): Coulomb
/// between the charged sites (H1, H2 and either O or the massless site M) and Lennard-Jones between
/// the oxygens.

namespace tarn::inline TARN_ARCH {

/// Vectors from the oxygen to the other sites of a molecule [A]. m is unused in three-site models.
template <class T>
struct SiteOffsets {
  Vec3<T> h1, h2, m;
};

/// Forces on the sites of a molecule [kcal/mol/A]. `m` is unused in three-site models.
template <class T>
struct SiteForces {
  Vec3<T> o, h1, h2, m;
};
template <class T>
TARN_HD SiteForces<T> no_site_forces() {
  const T zero(scalar_t<T>(0));
  const Vec3<T> v{zero, zero, zero};
  return {v, v, v, v};
}

/// One molecule in pair precision. With pairs in float, the oxygen position has a high and a low
/// part.
template <class T>
struct PairSite {
  Vec3<T> o, o_low;
  SiteOffsets<T> d;
};
/// Oxygen of i minus oxygen of j.
template <class T>
TARN_HD Vec3<T> oxygen_vector(const PairSite<T>& i, const PairSite<T>& j) {
  if constexpr (std::is_same_v<scalar_t<T>, float>) {
    return (i.o - j.o) + (i.o_low - j.o_low);
  } else {
    return i.o - j.o;
  }
}

template <class T>
TARN_HD PairParameters<T> rounded_parameters(const PairParameters<double>& p) {
  return {static_cast<T>(p.qq_nn),  static_cast<T>(p.qq_nh), static_cast<T>(p.qq_hh),
          static_cast<T>(p.lj_12a), static_cast<T>(p.lj_6c), static_cast<T>(p.m_weight)};
}

/// Offsets of the sites; M by equation (2).
template <bool kMSite, class T>
TARN_HD SiteOffsets<T> site_offsets(const Triple<T>& x, const T& m_weight) {
  SiteOffsets<T> d;
  d.h1 = x.h1 - x.o;
  d.h2 = x.h2 - x.o;
  if constexpr (kMSite) d.m = m_weight * (d.h1 + d.h2);
  return d;
}

/// Forces on the atoms from forces on the sites. The force on M is distributed linearly, (1 - 2w)
/// to O and w to each H: equation (5).
template <bool kMSite, class T>
TARN_HD Triple<T> forces_on_atoms(const SiteForces<T>& f, const T& m_weight) {
  if constexpr (kMSite) {
    const Vec3<T> h = m_weight * f.m;
    return {f.o + (f.m - (h + h)), f.h1 + h, f.h2 + h};
  } else {
    return {f.o, f.h1, f.h2};
  }
}

/// The lanes that have a pair: all, or those of a mask.
struct AllLanes {
  template <class T>
  TARN_HD T keep(const T& value) const {
    return value;
  }
};
template <class T>
struct SomeLanes {
  mask_t<T> mask;
  TARN_HD T keep(const T& value) const { return select(mask, value, T(scalar_t<T>(0))); }
};

/// -dV/dr / r of two oxygens: (12 A r^-6 - 6 C) r^-8, plus the Coulomb force if they are charged.
template <bool kMSite, class T, class S>
TARN_HD T oxygen_force_over_r(const PairParameters<S>& p, const T& r2) {
  const T y = rsqrt(r2);
  const T y2 = y * y;
  const T y6 = y2 * y2 * y2;
  T s = y6 * fma(T(p.lj_12a), y6, -T(p.lj_6c));
  if constexpr (!kMSite) s = fma(T(p.qq_nn), y, s);
  return s * y2;
}

/// Site numbers. N is the site with the negative charge, O or M.
enum SiteNumber { kSiteO, kSiteH1, kSiteH2, kSiteM, kSites };
template <bool kMSite>
inline constexpr SiteNumber kSiteN = kMSite ? kSiteM : kSiteO;
/// Numbers of the distances between two molecules: four N-H, four H-H, O-O, and N-N in four-site
/// models.
enum DistanceNumber { kDistanceNH, kDistanceHH = 4, kDistanceOO = 8, kDistanceNN, kDistances };

/// The vectors from the oxygen to the sites, or one of their components, by site number.
template <class T>
struct NumberedOffsets {
  T to[kSites];
};
template <bool kMSite, class T>
TARN_HD NumberedOffsets<Vec3<T>> numbered(const SiteOffsets<T>& d) {
  return {{{}, d.h1, d.h2, kMSite ? d.m : Vec3<T>{}}};
}
template <bool kMSite, class T>
TARN_HD NumberedOffsets<T> numbered(const SiteOffsets<T>& d, T Vec3<T>::*c) {
  return {{{}, d.h1.*c, d.h2.*c, kMSite ? d.m.*c : T{}}};
}
template <class T>
TARN_HD Vec3<T>& force_on(int site, SiteForces<T>& f) {
  return site == kSiteO ? f.o : site == kSiteH1 ? f.h1 : site == kSiteH2 ? f.h2 : f.m;
}

/// Calls op(number of the distance, site of i, site of j, difference) for each pair of interacting
/// sites of two molecules.
/// @tparam V Vec3<T>, or T for one component
/// @param r oxygen of i minus oxygen of j
template <bool kMSite, class V, class Op>
TARN_HD void for_each_site_distance(const V& r, const NumberedOffsets<V>& i,
                                    const NumberedOffsets<V>& j, const Op& op) {
  constexpr int n = kSiteN<kMSite>;
  const V n_i = kMSite ? r + i.to[n] : r;
  if constexpr (kMSite) op(kDistanceNN, n, n, n_i - j.to[n]);
  op(kDistanceNH, n, kSiteH1, n_i - j.to[kSiteH1]);
  op(kDistanceNH + 1, n, kSiteH2, n_i - j.to[kSiteH2]);
  const V h1_i = r + i.to[kSiteH1];
  op(kDistanceNH + 2, kSiteH1, n, kMSite ? h1_i - j.to[n] : h1_i);
  op(kDistanceHH, kSiteH1, kSiteH1, h1_i - j.to[kSiteH1]);
  op(kDistanceHH + 1, kSiteH1, kSiteH2, h1_i - j.to[kSiteH2]);
  const V h2_i = r + i.to[kSiteH2];
  op(kDistanceNH + 3, kSiteH2, n, kMSite ? h2_i - j.to[n] : h2_i);
  op(kDistanceHH + 2, kSiteH2, kSiteH1, h2_i - j.to[kSiteH1]);
  op(kDistanceHH + 3, kSiteH2, kSiteH2, h2_i - j.to[kSiteH2]);
  op(kDistanceOO, kSiteO, kSiteO, r);
}

/// Replaces s = r^2 by -dV/dr / r = qq r^-3 of charges, for several distances side by side.
template <int count, class T>
TARN_HD void charge_forces_over_r(const T& qq, T* s) {
  T factor[count], r2[count], y[count], result[count];
  TARN_UNROLL(4)
  for (int k = 0; k < count; ++k) {
    factor[k] = qq;
    r2[k] = s[k];
    y[k] = rsqrt_estimate(s[k]);
  }
  scaled_rsqrt_cubed(factor, r2, y, result);
  TARN_UNROLL(4)
  for (int k = 0; k < count; ++k) s[k] = result[k];
}

/// Adds the force s d to one of two sites and subtracts it from the other; V is Vec3<T> or T.
template <class T, class V>
TARN_HD void exert(const T& s, const V& d, V& on_i, V& on_j) {
  on_i = fma(s, d, on_i);
  on_j = fnma(s, d, on_j);
}

/// The order of the operations in a pair. All orders compute the same sums.
/// - one_by_one: one distance after another; on GPUs other threads hide the latency.
/// - in_stages: all squares, then the roots of four at a time, then all forces by component. Needs
///   few registers.
/// - two_sites: the distances of two sites of i side by side. Needs many registers.
enum class PairOrder { one_by_one, in_stages, two_sites };
template <class T>
inline constexpr bool kIsPack = requires {
  typename T::Native;
};
template <class T>
inline constexpr PairOrder kPairOrder = !kIsPack<T>            ? PairOrder::one_by_one
                                        : kManyVectorRegisters ? PairOrder::two_sites
                                                               : PairOrder::in_stages;

template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_pair_forces_one_by_one(const PairParameters<S>& p, const Vec3<T>& r_oo,
                                        const SiteOffsets<T>& i, const SiteOffsets<T>& j,
                                        const Lanes& lanes, SiteForces<T>& f_i,
                                        SiteForces<T>& f_j) {
  const auto op = [&](int number, int site_i, int site_j, const Vec3<T>& d) TARN_INLINE_LAMBDA {
    T s = norm2(d);
    if (number == kDistanceOO) {
      s = oxygen_force_over_r<kMSite>(p, s);
    } else {
      const S qq = number == kDistanceNN ? p.qq_nn : number < kDistanceHH ? p.qq_nh : p.qq_hh;
      charge_forces_over_r<1>(T(qq), &s);
    }
    exert(lanes.keep(s), d, force_on(site_i, f_i), force_on(site_j, f_j));
  };
  for_each_site_distance<kMSite>(r_oo, numbered<kMSite>(i), numbered<kMSite>(j), op);
}

/// Between stages one number per distance is kept, and the sums of one component. Differences are
/// computed twice: on AMD Zen 3 a store delays multiply-adds, an addition does not.
template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_pair_forces_in_stages(const PairParameters<S>& p, const Vec3<T>& r_oo,
                                       const SiteOffsets<T>& i, const SiteOffsets<T>& j,
                                       const Lanes& lanes, SiteForces<T>& f_i, SiteForces<T>& f_j) {
  T s[kDistances];
  const auto square = [&](int number, int, int, const Vec3<T>& d)
                          TARN_INLINE_LAMBDA { s[number] = norm2(d); };
  for_each_site_distance<kMSite>(r_oo, numbered<kMSite>(i), numbered<kMSite>(j), square);
  end_of_stage();
  if constexpr (kMSite) charge_forces_over_r<1>(T(p.qq_nn), s + kDistanceNN);
  charge_forces_over_r<4>(T(p.qq_nh), s + kDistanceNH);
  s[kDistanceOO] = oxygen_force_over_r<kMSite>(p, s[kDistanceOO]);
  end_of_stage();
  charge_forces_over_r<4>(T(p.qq_hh), s + kDistanceHH);
  TARN_UNROLL(10)
  for (int k = 0; k < kDistances - !kMSite; ++k) s[k] = lanes.keep(s[k]);
  const auto component = [&](T Vec3<T>::*c) TARN_INLINE_LAMBDA {
    end_of_stage();
    T r = r_oo.*c;
    forget_what_follows_from(r);
    const auto forces = [&](int number, int site_i, int site_j, const T& d) TARN_INLINE_LAMBDA {
      exert(s[number], d, force_on(site_i, f_i).*c, force_on(site_j, f_j).*c);
    };
    for_each_site_distance<kMSite>(r, numbered<kMSite>(i, c), numbered<kMSite>(j, c), forces);
  };
  component(&Vec3<T>::x);
  component(&Vec3<T>::y);
  component(&Vec3<T>::z);
  end_of_stage();
}

/// Charge pairs of one site of a molecule with sites of the other.
template <int count, class T>
struct ChargePairs {
  Vec3<T> d[count];       ///< from the other sites to this one
  T qq[count];            ///< products of charges
  T r2[count], y[count];  ///< squared and estimated reciprocal lengths, set by begin()

  TARN_HD void begin() {
    TARN_UNROLL(3)
    for (int k = 0; k < count; ++k) r2[k] = norm2(d[k]);
    TARN_UNROLL(3)
    for (int k = 0; k < count; ++k) y[k] = rsqrt_estimate(r2[k]);
  }
  /// s = -dV/dr / r = qq r^-3.
  TARN_HD void end(T (&s)[count]) const { scaled_rsqrt_cubed(qq, r2, y, s); }
};

template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_pair_forces_of_two_sites(const PairParameters<S>& p, const Vec3<T>& r_oo,
                                          const SiteOffsets<T>& i, const SiteOffsets<T>& j,
                                          const Lanes& lanes, SiteForces<T>& f_i,
                                          SiteForces<T>& f_j) {
  const T nn(p.qq_nn), nh(p.qq_nh), hh(p.qq_hh);
  const auto negative = [&]() TARN_INLINE_LAMBDA {
    if constexpr (kMSite) {
      const Vec3<T> m_i = r_oo + i.m;  // minus oxygen of j, as below
      return ChargePairs<3, T>{{m_i - j.m, m_i - j.h1, m_i - j.h2}, {nn, nh, nh}, {}, {}};
    } else {
      return ChargePairs<2, T>{{r_oo - j.h1, r_oo - j.h2}, {nh, nh}, {}, {}};
    }
  };
  const auto hydrogen = [&](const Vec3<T>& offset) TARN_INLINE_LAMBDA {
    const Vec3<T> h_i = r_oo + offset;
    return ChargePairs<3, T>{
        {kMSite ? h_i - j.m : h_i, h_i - j.h1, h_i - j.h2}, {nh, hh, hh}, {}, {}};
  };
  const auto end = [&](const auto& x, Vec3<T>& a, auto&... b) TARN_INLINE_LAMBDA {
    T s[sizeof...(b)];
    x.end(s);
    int k = 0;
    ((exert(lanes.keep(s[k]), x.d[k], a, b), ++k), ...);
  };
  Vec3<T>& fn_i = kMSite ? f_i.m : f_i.o;
  Vec3<T>& fn_j = kMSite ? f_j.m : f_j.o;
  auto n = negative();
  n.begin();
  auto h1 = hydrogen(i.h1);
  h1.begin();
  if constexpr (kMSite) {
    end(n, fn_i, fn_j, f_j.h1, f_j.h2);
  } else {
    end(n, fn_i, f_j.h1, f_j.h2);
  }
  auto h2 = hydrogen(i.h2);
  h2.begin();
  end(h1, f_i.h1, fn_j, f_j.h1, f_j.h2);
  const T oxygens = oxygen_force_over_r<kMSite>(p, norm2(r_oo));
  end(h2, f_i.h2, fn_j, f_j.h1, f_j.h2);
  exert(lanes.keep(oxygens), r_oo, f_i.o, f_j.o);
}

/// Adds the forces of one pair to f_i and subtracts them from f_j, equation (4).
///
/// @tparam kOrder order of operations; the result does not depend on it
/// @param r_oo oxygen of i minus oxygen of j [A]; must not be 0, not even in unused lanes
/// @param lanes lanes that have a pair
template <bool kMSite, PairOrder kOrder, class T, class S, class Lanes>
TARN_HD void add_pair_forces(const PairParameters<S>& p, const Vec3<T>& r_oo,
                             const SiteOffsets<T>& i, const SiteOffsets<T>& j, const Lanes& lanes,
                             SiteForces<T>& f_i, SiteForces<T>& f_j) {
  if constexpr (kOrder == PairOrder::one_by_one) {
    add_pair_forces_one_by_one<kMSite>(p, r_oo, i, j, lanes, f_i, f_j);
  } else if constexpr (kOrder == PairOrder::in_stages) {
    add_pair_forces_in_stages<kMSite>(p, r_oo, i, j, lanes, f_i, f_j);
  } else {
    add_pair_forces_of_two_sites<kMSite>(p, r_oo, i, j, lanes, f_i, f_j);
  }
}
template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_pair_forces(const PairParameters<S>& p, const Vec3<T>& r_oo,
                             const SiteOffsets<T>& i, const SiteOffsets<T>& j, const Lanes& lanes,
                             SiteForces<T>& f_i, SiteForces<T>& f_j) {
  add_pair_forces<kMSite, kPairOrder<T>>(p, r_oo, i, j, lanes, f_i, f_j);
}

/// Sum of the forces on the atoms of a molecule.
template <class T>
TARN_HD Vec3<T> total(const Triple<T>& f) {
  return f.o + (f.h1 + f.h2);
}

/// Subtracts the net force, in proportion to mass. Rounded pair forces do not cancel exactly;
/// without their net force momentum is conserved as with exact forces.
/// @param net_per_molecule sum of all forces divided by the number of molecules
template <class T, class M>
TARN_HD Triple<T> remove_net_force(const Triple<T>& f, const Vec3<T>& net_per_molecule,
                                   const M& m) {
  const auto total_mass = m.o + m.h1() + m.h2();
  return {fma(T(-m.o / total_mass), net_per_molecule, f.o),
          fma(T(-m.h1() / total_mass), net_per_molecule, f.h1),
          fma(T(-m.h2() / total_mass), net_per_molecule, f.h2)};
}

/// Adds the Coulomb and Lennard-Jones energies of one pair to the sums, equation (3) [kcal/mol].
template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_pair_energy(const PairParameters<S>& p, const Vec3<T>& r_oo,
                             const SiteOffsets<T>& i, const SiteOffsets<T>& j, const Lanes& lanes,
                             T& coulomb_sum, T& lj_sum) {
  const auto inverse = [](const Vec3<T>& d) { return rsqrt(norm2(d)); };
  const T y = inverse(r_oo);
  const T y2 = y * y;
  const T y6 = y2 * y2 * y2;
  const T lj = y6 * fma(T(p.lj_12a) * T(S(1.0 / 12.0)), y6, -(T(p.lj_6c) * T(S(1.0 / 6.0))));
  lj_sum = lj_sum + lanes.keep(lj);

  Vec3<T> n_i = r_oo, zero_m{T(S(0)), T(S(0)), T(S(0))};
  T nn = y;
  if constexpr (kMSite) {
    n_i = r_oo + i.m;
    zero_m = j.m;
    nn = inverse(n_i - j.m);
  }
  const Vec3<T> h1_i = r_oo + i.h1;
  const Vec3<T> h2_i = r_oo + i.h2;
  const T nh =
      inverse(n_i - j.h1) + inverse(n_i - j.h2) + inverse(h1_i - zero_m) + inverse(h2_i - zero_m);
  const T hh =
      inverse(h1_i - j.h1) + inverse(h1_i - j.h2) + inverse(h2_i - j.h1) + inverse(h2_i - j.h2);
  coulomb_sum = coulomb_sum + lanes.keep(fma(T(p.qq_nn), nn, fma(T(p.qq_nh), nh, T(p.qq_hh) * hh)));
}

/// Calls op(pair class, difference vector) for each distance between the atoms of two molecules in
/// the requested classes. The classes are those of radial distribution functions, equation (38):
/// 0 O-O (one distance), 1 O-H (four), 2 H-H (four).
/// @param wanted pair class -> bool
template <class T, class Wanted, class Op>
TARN_HD void for_each_distance(const Triple<T>& i, const Triple<T>& j, const Wanted& wanted,
                               const Op& op) {
  if (wanted(0)) op(0, i.o - j.o);
  if (wanted(1)) {
    op(1, i.o - j.h1);
    op(1, i.o - j.h2);
    op(1, i.h1 - j.o);
    op(1, i.h2 - j.o);
  }
  if (wanted(2)) {
    op(2, i.h1 - j.h1);
    op(2, i.h1 - j.h2);
    op(2, i.h2 - j.h1);
    op(2, i.h2 - j.h2);
  }
}

}  // namespace tarn::inline TARN_ARCH
