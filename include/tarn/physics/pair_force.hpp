#pragma once

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
  const auto coulomb = [&](const T& qq, const Vec3<T>& d, Vec3<T>& a, Vec3<T>& b) {
    const T y = rsqrt(norm2(d));
    apply(lanes.keep((qq * y) * (y * y)), d, a, b);
  };

  {  // O-O: -dV/dr / r = (12 A r^-6 - 6 C) r^-8, and the charges if they sit there.
    const T y = rsqrt(norm2(r_oo));
    const T y2 = y * y;
    const T y6 = y2 * y2 * y2;
    T s = y6 * fma(T(p.lj_12a), y6, -T(p.lj_6c));
    if constexpr (!kMSite) s = fma(T(p.qq_nn), y, s);
    apply(lanes.keep(s * y2), r_oo, f_i.o, f_j.o);
  }
  Vec3<T> n_i = r_oo;  // negative site of i minus oxygen of j
  if constexpr (kMSite) {
    n_i = r_oo + i.m;
    coulomb(T(p.qq_nn), n_i - j.m, f_i.m, f_j.m);
  }
  Vec3<T>& fn_i = kMSite ? f_i.m : f_i.o;
  Vec3<T>& fn_j = kMSite ? f_j.m : f_j.o;
  coulomb(T(p.qq_nh), n_i - j.h1, fn_i, f_j.h1);
  coulomb(T(p.qq_nh), n_i - j.h2, fn_i, f_j.h2);
  const Vec3<T> h1_i = r_oo + i.h1;
  const Vec3<T> h2_i = r_oo + i.h2;
  if constexpr (kMSite) {
    coulomb(T(p.qq_nh), h1_i - j.m, f_i.h1, fn_j);
    coulomb(T(p.qq_nh), h2_i - j.m, f_i.h2, fn_j);
  } else {
    coulomb(T(p.qq_nh), h1_i, f_i.h1, fn_j);
    coulomb(T(p.qq_nh), h2_i, f_i.h2, fn_j);
  }
  coulomb(T(p.qq_hh), h1_i - j.h1, f_i.h1, f_j.h1);
  coulomb(T(p.qq_hh), h1_i - j.h2, f_i.h1, f_j.h2);
  coulomb(T(p.qq_hh), h2_i - j.h1, f_i.h2, f_j.h1);
  coulomb(T(p.qq_hh), h2_i - j.h2, f_i.h2, f_j.h2);
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
