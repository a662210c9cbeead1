#pragma once

#include <type_traits>

#include "tarn/physics/triple.hpp"

/// @file
/// The non-bonded interaction of two water molecules (TO 4.2): Coulomb between the charged sites
/// (H1, H2 and either O or the massless site M) and Lennard-Jones between the oxygens.

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

template <bool kMSite, class T>
TARN_HD SiteOffsets<T> site_offsets(const Triple<T>& x, const T& m_weight) {
  SiteOffsets<T> d;
  d.h1 = x.h1 - x.o;
  d.h2 = x.h2 - x.o;
  if constexpr (kMSite) d.m = m_weight * (d.h1 + d.h2);
  return d;
}

/// Forces on the atoms from forces on the sites: the force on M is spread linearly,
/// (1 - 2w) to O and w to each H.
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

/// Whether distances go side by side, which hides the time that the roots of packs take, or one
/// after the other: a thread of a GPU has other threads beside it, and fewer registers. The bits
/// are the same.
template <class T>
inline constexpr bool kSideBySide = !std::is_floating_point_v<T>;

/// Adds the forces of one pair to f_i and subtracts them from f_j; each pair is done once.
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
  apply(lanes.keep(oxygen_force_over_r<kMSite>(p, norm2(r_oo))), r_oo, f_i.o, f_j.o);
  const T nn(p.qq_nn), nh(p.qq_nh), hh(p.qq_hh);
  Vec3<T>& fn_j = kMSite ? f_j.m : f_j.o;
  // One site of i with the sites of j.
  const auto coulomb = [&](const auto& qq, const auto& d, Vec3<T>& a, auto&... b) {
    int k = 0;
    if constexpr (kSideBySide<T>) {
      constexpr int count = sizeof...(b);
      T r2[count], s[count];
      TARN_UNROLL(3)
      for (int n = 0; n < count; ++n) r2[n] = norm2(d[n]);
      scaled_rsqrt_cubed(qq, r2, s);
      ((apply(lanes.keep(s[k]), d[k], a, b), ++k), ...);
    } else {
      const auto force = [&](int n) {
        const T r2[1] = {norm2(d[n])}, q[1] = {qq[n]};
        T s[1];
        scaled_rsqrt_cubed(q, r2, s);
        return lanes.keep(s[0]);
      };
      ((apply(force(k), d[k], a, b), ++k), ...);
    }
  };
  if constexpr (kMSite) {
    const Vec3<T> m_i = r_oo + i.m;  // minus oxygen of j, as below
    const Vec3<T> d[3] = {m_i - j.m, m_i - j.h1, m_i - j.h2};
    const T qq[3] = {nn, nh, nh};
    coulomb(qq, d, f_i.m, f_j.m, f_j.h1, f_j.h2);
  } else {
    const Vec3<T> d[2] = {r_oo - j.h1, r_oo - j.h2};
    const T qq[2] = {nh, nh};
    coulomb(qq, d, f_i.o, f_j.h1, f_j.h2);
  }
  const auto hydrogen = [&](const Vec3<T>& h_i, Vec3<T>& f) {
    const Vec3<T> d[3] = {kMSite ? h_i - j.m : h_i, h_i - j.h1, h_i - j.h2};
    const T qq[3] = {nh, hh, hh};
    coulomb(qq, d, f, fn_j, f_j.h1, f_j.h2);
  };
  hydrogen(r_oo + i.h1, f_i.h1);
  hydrogen(r_oo + i.h2, f_i.h2);
}

/// Adds the forces that a partner exerts, with the bits that add_pair_forces() gives: it rounds
/// distances in the order of its molecule i.
///
/// @param r_oo own oxygen minus the partner's [A]
/// @param own_is_i where own is the molecule i of add_pair_forces()
template <bool kMSite, class T, class S, class Lanes>
TARN_HD void add_forces_of_partner(const PairParameters<S>& p, const Vec3<T>& r_oo,
                                   const SiteOffsets<T>& own, const SiteOffsets<T>& partner,
                                   const mask_t<T>& own_is_i, const Lanes& lanes,
                                   SiteForces<T>& f) {
  const auto apply = [](const T& s, const Vec3<T>& d, Vec3<T>& a) { a = fma(s, d, a); };
  apply(lanes.keep(oxygen_force_over_r<kMSite>(p, norm2(r_oo))), r_oo, f.o);

  const T nn(p.qq_nn), nh(p.qq_nh), hh(p.qq_hh);
  const auto between = [&](const Vec3<T>& a, const Vec3<T>& b) -> Vec3<T> {
    const Vec3<T> as_i = (r_oo + a) - b, as_j = (r_oo - b) + a;
    return {select(own_is_i, as_i.x, as_j.x), select(own_is_i, as_i.y, as_j.y),
            select(own_is_i, as_i.z, as_j.z)};
  };
  const auto coulomb = [&](const auto& qq, const auto& d, Vec3<T>& a) {
    constexpr int count = static_cast<int>(sizeof(d) / sizeof(d[0]));
    T r2[count], s[count];
    TARN_UNROLL(3)
    for (int k = 0; k < count; ++k) r2[k] = norm2(d[k]);
    scaled_rsqrt_cubed(qq, r2, s);
    TARN_UNROLL(3)
    for (int k = 0; k < count; ++k) apply(lanes.keep(s[k]), d[k], a);
  };
  if constexpr (kMSite) {
    const Vec3<T> d[3] = {between(own.m, partner.m), between(own.m, partner.h1),
                          between(own.m, partner.h2)};
    const T qq[3] = {nn, nh, nh};
    coulomb(qq, d, f.m);
  } else {
    const Vec3<T> d[2] = {r_oo - partner.h1, r_oo - partner.h2};
    const T qq[2] = {nh, nh};
    coulomb(qq, d, f.o);
  }
  const auto hydrogen = [&](const Vec3<T>& h, Vec3<T>& a) {
    const Vec3<T> d[3] = {kMSite ? between(h, partner.m) : r_oo + h, between(h, partner.h1),
                          between(h, partner.h2)};
    const T qq[3] = {nh, hh, hh};
    coulomb(qq, d, a);
  };
  hydrogen(own.h1, f.h1);
  hydrogen(own.h2, f.h2);
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

/// Coulomb and Lennard-Jones energies of one pair [kcal/mol], added to the sums.
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
