#pragma once

#include <type_traits>

#include "tarn/physics/triple.hpp"

/// @file
/// The non-bonded interaction of two water molecules, TO (4.2) and equations (3) to (5): Coulomb
/// between the charged sites (H1, H2 and either O or the massless site M) and Lennard-Jones between
/// the oxygens.

namespace tarn {
inline namespace TARN_ARCH {

/// Vectors from the oxygen to the other sites of a molecule [A]. m is unused in three-site models.
template <class T>
struct SiteOffsets {
  Vec3<T> h1, h2, m;
};

/// Forces on the sites of a molecule [kcal/mol/A]. In three-site models all that acts on the oxygen
/// is in `o`, and `m` is unused.
template <class T>
struct SiteForces {
  Vec3<T> o, h1, h2, m;
};

/// M is where equation (2) has it.
template <bool kMSite, class T>
TARN_HD SiteOffsets<T> site_offsets(const Triple<T>& x, const T& m_weight) {
  SiteOffsets<T> d;
  d.h1 = x.h1 - x.o;
  d.h2 = x.h2 - x.o;
  if constexpr (kMSite) d.m = m_weight * (d.h1 + d.h2);
  return d;
}

/// Forces on the atoms from forces on the sites: the force on M is spread linearly,
/// (1 - 2w) to O and w to each H: equation (5).
template <bool kMSite, class T>
TARN_HD Triple<T> forces_on_atoms(const SiteForces<T>& f, const T& m_weight) {
  if constexpr (kMSite) {
    const Vec3<T> h = m_weight * f.m;
    return {f.o + (f.m - (h + h)), f.h1 + h, f.h2 + h};
  } else {
    return {f.o, f.h1, f.h2};
  }
}

/// Which lanes of a number hold a real pair: all of them, or those of a mask.
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

/// Oxygens of two molecules: -dV/dr / r = (12 A r^-6 - 6 C) r^-8, and the charges if they sit
/// there.
template <bool kMSite, class T, class S>
TARN_HD T oxygen_force_over_r(const PairParameters<S>& p, const T& r2) {
  const T y = rsqrt(r2);
  const T y2 = y * y;
  const T y6 = y2 * y2 * y2;
  T s = y6 * fma(T(p.lj_12a), y6, -T(p.lj_6c));
  if constexpr (!kMSite) s = fma(T(p.qq_nn), y, s);
  return s * y2;
}

/// A site of one molecule with sites of the other.
template <int count, class T>
struct ChargePairs {
  Vec3<T> d[count];       ///< from the others to the one
  T qq[count];            ///< products of charges
  T r2[count], y[count];  ///< squares, and estimates of reciprocal lengths, by begin()

  TARN_HD void begin() {
    TARN_UNROLL(3)
    for (int k = 0; k < count; ++k) r2[k] = norm2(d[k]);
    TARN_UNROLL(3)
    for (int k = 0; k < count; ++k) y[k] = rsqrt_estimate(r2[k]);
  }
  /// s = -dV/dr / r = qq r^-3.
  TARN_HD void end(T (&s)[count]) const { scaled_rsqrt_cubed(qq, r2, y, s); }
};

/// How many distances are worked on at a time, which hides the time that roots take and costs
/// registers: one (a thread of a GPU has other threads beside it), those of one site of i, or also
/// the beginning of those of the next site. The bits are the same.
enum class SideBySide { one, of_a_site, of_two_sites };
template <class T>
inline constexpr SideBySide kSideBySide = std::is_floating_point_v<T> ? SideBySide::one
                                          : kManyVectorRegisters      ? SideBySide::of_two_sites
                                                                      : SideBySide::of_a_site;

/// Adds the forces of one pair to f_i and subtracts them from f_j, equation (4); each pair is done
/// once.
///
/// @param r_oo oxygen of i minus oxygen of j [A]; must not vanish, in unused lanes either
/// @param lanes lanes that count
template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_pair_forces(const PairParameters<S>& p, const Vec3<T>& r_oo,
                             const SiteOffsets<T>& i, const SiteOffsets<T>& j, const Lanes& lanes,
                             SiteForces<T>& f_i, SiteForces<T>& f_j) {
  const auto apply = [](const T& s, const Vec3<T>& d, Vec3<T>& a, Vec3<T>& b) {
    a.x = fma(s, d.x, a.x);
    a.y = fma(s, d.y, a.y);
    a.z = fma(s, d.z, a.z);
    b.x = fnma(s, d.x, b.x);
    b.y = fnma(s, d.y, b.y);
    b.z = fnma(s, d.z, b.z);
  };
  const T nn(p.qq_nn), nh(p.qq_nh), hh(p.qq_hh);
  const auto negative = [&] {
    if constexpr (kMSite) {
      const Vec3<T> m_i = r_oo + i.m;  // minus oxygen of j, as below
      return ChargePairs<3, T>{{m_i - j.m, m_i - j.h1, m_i - j.h2}, {nn, nh, nh}, {}, {}};
    } else {
      return ChargePairs<2, T>{{r_oo - j.h1, r_oo - j.h2}, {nh, nh}, {}, {}};
    }
  };
  const auto hydrogen = [&](const Vec3<T>& offset) {
    const Vec3<T> h_i = r_oo + offset;
    return ChargePairs<3, T>{
        {kMSite ? h_i - j.m : h_i, h_i - j.h1, h_i - j.h2}, {nh, hh, hh}, {}, {}};
  };
  const auto end = [&](const auto& x, Vec3<T>& a, auto&... b) {
    T s[sizeof...(b)];
    x.end(s);
    int k = 0;
    ((apply(lanes.keep(s[k]), x.d[k], a, b), ++k), ...);
  };
  Vec3<T>& fn_i = kMSite ? f_i.m : f_i.o;
  Vec3<T>& fn_j = kMSite ? f_j.m : f_j.o;
  const auto end_negative = [&](const auto& x, const auto& how) {
    if constexpr (kMSite) {
      how(x, fn_i, f_j.m, f_j.h1, f_j.h2);
    } else {
      how(x, fn_i, f_j.h1, f_j.h2);
    }
  };
  if constexpr (kSideBySide<T> != SideBySide::one) {
    constexpr bool ahead = kSideBySide<T> == SideBySide::of_two_sites;
    auto n = negative();
    n.begin();
    if constexpr (!ahead) end_negative(n, end);
    auto h1 = hydrogen(i.h1);
    h1.begin();
    if constexpr (ahead) end_negative(n, end);
    if constexpr (!ahead) end(h1, f_i.h1, fn_j, f_j.h1, f_j.h2);
    auto h2 = hydrogen(i.h2);
    h2.begin();
    if constexpr (ahead) end(h1, f_i.h1, fn_j, f_j.h1, f_j.h2);
    const T oxygens = oxygen_force_over_r<kMSite>(p, norm2(r_oo));
    end(h2, f_i.h2, fn_j, f_j.h1, f_j.h2);
    apply(lanes.keep(oxygens), r_oo, f_i.o, f_j.o);
  } else {
    const auto one_by_one = [&](const auto& x, Vec3<T>& a, auto&... b) {
      const auto one = [&](int k, Vec3<T>& to) {
        ChargePairs<1, T> pair{{x.d[k]}, {x.qq[k]}, {}, {}};
        pair.begin();
        end(pair, a, to);
      };
      int k = 0;
      ((one(k, b), ++k), ...);
    };
    end_negative(negative(), one_by_one);
    one_by_one(hydrogen(i.h1), f_i.h1, fn_j, f_j.h1, f_j.h2);
    one_by_one(hydrogen(i.h2), f_i.h2, fn_j, f_j.h1, f_j.h2);
    apply(lanes.keep(oxygen_force_over_r<kMSite>(p, norm2(r_oo))), r_oo, f_i.o, f_j.o);
  }
}

/// Sum of the forces on the atoms of a molecule.
template <class T>
TARN_HD Vec3<T> total(const Triple<T>& f) {
  return f.o + (f.h1 + f.h2);
}

/// Forces without a net force: rounded pair forces do not cancel to the last bit, and what is left
/// is taken off each atom by its share of the mass, so that momentum is kept as with exact ones.
/// @param net_per_molecule the sum of all forces divided by the number of molecules
template <class T, class S>
TARN_HD Triple<T> remove_net_force(const Triple<T>& f, const Vec3<T>& net_per_molecule,
                                   const Masses<S>& m) {
  const S total_mass = m.o + m.h + m.h;
  const T o = T(-m.o / total_mass), h = T(-m.h / total_mass);
  return {fma(o, net_per_molecule, f.o), fma(h, net_per_molecule, f.h1),
          fma(h, net_per_molecule, f.h2)};
}

/// Coulomb and Lennard-Jones energies of one pair [kcal/mol], added to the sums: equation (3).
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

}  // namespace TARN_ARCH
}  // namespace tarn
