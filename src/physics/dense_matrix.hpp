#pragma once

#include "pair_force.hpp"
#include "penalty.hpp"
#include "tarn/physics/parameters.hpp"
#include "tarn/physics/triple.hpp"

/// @file
/// The matrix of a dense solve, M + b h^2 H, in 3x3 blocks between two atoms: equations (9), (27).

namespace tarn::inline TARN_ARCH {

// Second derivatives of the energies between two sites, d = site of i minus site of j. With force
// s d on the site of i, the Hessian is t d d^T - s I for (i, i) and (j, j), and minus that for
// (i, j): equation (27).

/// t d d^T - s I.
template <class T>
struct SiteHessian {
  T s, t;
};

/// q_i q_j / r: s = qq / r^3, t = 3 qq / r^5.
template <class T>
TARN_HD SiteHessian<T> coulomb_hessian(const T& qq, const Vec3<T>& d) {
  const T y = rsqrt(norm2(d));
  const T y2 = y * y;
  const T s = (qq * y) * y2;
  return {s, T(scalar_t<T>(3)) * (s * y2)};
}

/// A / r^12 - C / r^6: s = (12 A r^-6 - 6 C) r^-8, t = (168 A r^-6 - 48 C) r^-10.
template <class T, class S>
TARN_HD SiteHessian<T> lj_hessian(const PairParameters<S>& p, const Vec3<T>& d) {
  const T y = rsqrt(norm2(d));
  const T y2 = y * y;
  const T y6 = y2 * y2 * y2;
  const T y8 = y6 * y2;
  return {y8 * fma(T(p.lj_12a), y6, -T(p.lj_6c)),
          (y8 * y2) * fma(T(S(14) * p.lj_12a), y6, -T(S(8) * p.lj_6c))};
}

/// The penalty of one bond, omega^2/2 g^2 with g = |d|^2 - r0^2: s = -2 omega^2 g, t = 4 omega^2,
/// equation (9). The Gauss-Newton Hessian has g = 0 here.
template <class T, class S>
TARN_HD SiteHessian<T> bond_hessian(const T& g, const S& omega) {
  return {T(S(-2) * omega * omega) * g, T(S(4) * omega * omega)};
}

/// A symmetric 3x3 matrix over x, y, z.
template <class T>
struct SymmetricBlock {
  T xx, yy, zz, xy, xz, yz;
};
template <class T>
TARN_HD SymmetricBlock<T> no_block() {
  const T zero = T(scalar_t<T>(0));
  return {zero, zero, zero, zero, zero, zero};
}
/// t d d^T - s I.
template <class T>
TARN_HD SymmetricBlock<T> block_of(const SiteHessian<T>& h, const Vec3<T>& d) {
  const Vec3<T> td = h.t * d;
  return {fma(td.x, d.x, -h.s), fma(td.y, d.y, -h.s), fma(td.z, d.z, -h.s),
          td.x * d.y,           td.x * d.z,           td.y * d.z};
}
/// sum + w k.
template <class T>
TARN_HD SymmetricBlock<T> fma(const T& w, const SymmetricBlock<T>& k,
                              const SymmetricBlock<T>& sum) {
  return {fma(w, k.xx, sum.xx), fma(w, k.yy, sum.yy), fma(w, k.zz, sum.zz),
          fma(w, k.xy, sum.xy), fma(w, k.xz, sum.xz), fma(w, k.yz, sum.yz)};
}

/// Calls op(s, t, k) with the block k of each pair of sites s of i and t of j that interact; sites
/// are 0 (O), 1 (H1), 2 (H2) and 3 (M).
template <bool kMSite, class T, class S, class Op>
TARN_HD void for_each_site_block(const PairParameters<S>& p, const Triple<T>& xi,
                                 const Triple<T>& xj, const Op& op) {
  constexpr int kNegative = kMSite ? 3 : 0;
  const T zero = T(S(0));
  const SiteOffsets<T> i = site_offsets<kMSite>(xi, T(p.m_weight));
  const SiteOffsets<T> j = site_offsets<kMSite>(xj, T(p.m_weight));
  const Vec3<T> none{zero, zero, zero};
  const Vec3<T> n_i = kMSite ? i.m : none, n_j = kMSite ? j.m : none;
  const Vec3<T> r_oo = xi.o - xj.o;
  const auto coulomb = [&](const S& qq, const Vec3<T>& d, int s, int t) {
    op(s, t, block_of(coulomb_hessian(T(qq), d), d));
  };
  op(0, 0, block_of(lj_hessian(p, r_oo), r_oo));
  coulomb(p.qq_nn, r_oo + (n_i - n_j), kNegative, kNegative);
  coulomb(p.qq_nh, r_oo + (n_i - j.h1), kNegative, 1);
  coulomb(p.qq_nh, r_oo + (n_i - j.h2), kNegative, 2);
  coulomb(p.qq_nh, r_oo + (i.h1 - n_j), 1, kNegative);
  coulomb(p.qq_nh, r_oo + (i.h2 - n_j), 2, kNegative);
  coulomb(p.qq_hh, r_oo + (i.h1 - j.h1), 1, 1);
  coulomb(p.qq_hh, r_oo + (i.h1 - j.h2), 1, 2);
  coulomb(p.qq_hh, r_oo + (i.h2 - j.h1), 2, 1);
  coulomb(p.qq_hh, r_oo + (i.h2 - j.h2), 2, 2);
}

/// Weight of an atom (O, H1, H2) in the position of a site.
template <class S>
TARN_HD S site_weight(int site, int atom, const S& m_weight) {
  if (site < 3) return S(site == atom ? 1 : 0);
  return atom == 0 ? S(1) - (m_weight + m_weight) : m_weight;
}

/// Sums of the blocks of all other molecules, for each site of a molecule.
template <class T>
struct SiteCurvatures {
  SymmetricBlock<T> on[4];
};
template <class T>
TARN_HD SiteCurvatures<T> no_curvatures() {
  return {{no_block<T>(), no_block<T>(), no_block<T>(), no_block<T>()}};
}
/// Adds the blocks of molecule j to the sites of molecule i.
template <bool kMSite, class T, class S>
TARN_HD void add_curvatures(const PairParameters<S>& p, const Triple<T>& xi, const Triple<T>& xj,
                            SiteCurvatures<T>& i) {
  const T one = T(S(1));
  for_each_site_block<kMSite>(
      p, xi, xj, [&](int s, int, const SymmetricBlock<T>& k) { i.on[s] = fma(one, k, i.on[s]); });
}

/// The non-bonded Hessian between atom a of molecule i and atom b of molecule j.
template <bool kMSite, class T, class S>
TARN_HD SymmetricBlock<T> coupling(const PairParameters<S>& p, const Triple<T>& xi, int a,
                                   const Triple<T>& xj, int b) {
  SymmetricBlock<T> sum = no_block<T>();
  for_each_site_block<kMSite>(p, xi, xj, [&](int s, int t, const SymmetricBlock<T>& k) {
    const S w = site_weight(s, a, p.m_weight) * site_weight(t, b, p.m_weight);
    sum = fma(T(-w), k, sum);
  });
  return sum;
}

/// The same for all atoms. @param blocks out: [a][b]
template <bool kMSite, class T, class S>
TARN_HD void couplings(const PairParameters<S>& p, const Triple<T>& xi, const Triple<T>& xj,
                       SymmetricBlock<T> (&blocks)[3][3]) {
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) blocks[a][b] = no_block<T>();
  }
  for_each_site_block<kMSite>(p, xi, xj, [&](int s, int t, const SymmetricBlock<T>& k) {
    for (int a = s < 3 ? s : 0; a < (s < 3 ? s + 1 : 3); ++a) {
      for (int b = t < 3 ? t : 0; b < (t < 3 ? t + 1 : 3); ++b) {
        const S w = site_weight(s, a, p.m_weight) * site_weight(t, b, p.m_weight);
        blocks[a][b] = fma(T(-w), k, blocks[a][b]);
      }
    }
  });
}

/// The 9x9 matrix of a molecule: M + b h^2 (Hessian of the penalty, and diagonal block of the
/// non-bonded Hessian). block() returns its 3x3 blocks between atoms a and b.
template <class T>
struct MoleculeMatrix {
  SymmetricBlock<T> bonds[3];
  SiteCurvatures<T> sites;
  T m_weight, mass_o, mass_h1, mass_h2, bh2;
};
template <class T, class S, class M>
TARN_HD MoleculeMatrix<T> molecule_matrix(const Triple<T>& x, const BondReference<S>& reference,
                                          const M& m, const S& omega, const S& bh2,
                                          bool with_curvature, const S& m_weight,
                                          const SiteCurvatures<T>& sites) {
  const Bonds<T> b = tarn::bonds(x);
  const T on = T(S(with_curvature ? 1 : 0));
  const BondValues<T> g = constraint_values(b, reference);
  return {{block_of(bond_hessian(on * g.oh1, omega), b.d1),
           block_of(bond_hessian(on * g.oh2, omega), b.d2),
           block_of(bond_hessian(on * g.hh, omega), b.d3)},
          sites,
          T(m_weight),
          T(m.o),
          T(m.h1()),
          T(m.h2()),
          T(bh2)};
}
template <class T>
TARN_HD SymmetricBlock<T> block(const MoleculeMatrix<T>& matrix, int a, int b) {
  const T zero = T(scalar_t<T>(0)), one = T(scalar_t<T>(1));
  const auto is = [&](bool yes) { return yes ? one : zero; };
  // Ends of the bonds: -1 at the start, +1 at the end.
  const auto end = [&](int bond, int atom) {
    const int start_atom = bond == 2 ? 1 : 0, end_atom = bond == 0 ? 1 : 2;
    return is(atom == end_atom) - is(atom == start_atom);
  };
  SymmetricBlock<T> sum = no_block<T>();
  for (int c = 0; c < 3; ++c) sum = fma(end(c, a) * end(c, b), matrix.bonds[c], sum);
  for (int s = 0; s < 4; ++s) {
    const T w = site_weight(s, a, matrix.m_weight) * site_weight(s, b, matrix.m_weight);
    sum = fma(w, matrix.sites.on[s], sum);
  }
  const T mass = is(a == b) * (a == 0 ? matrix.mass_o : a == 1 ? matrix.mass_h1 : matrix.mass_h2);
  const SymmetricBlock<T> on_diagonal{mass, mass, mass, zero, zero, zero};
  return fma(matrix.bh2, sum, on_diagonal);
}

/// Calls put(row, column, value) for the elements on and below the diagonal of a block, or for all
/// nine if `whole`.
template <class T, class Put>
TARN_HD void for_each_element(const SymmetricBlock<T>& k, bool whole, const Put& put) {
  put(0, 0, k.xx);
  put(1, 0, k.xy);
  put(1, 1, k.yy);
  put(2, 0, k.xz);
  put(2, 1, k.yz);
  put(2, 2, k.zz);
  if (!whole) return;
  put(0, 1, k.xy);
  put(0, 2, k.xz);
  put(1, 2, k.yz);
}

}  // namespace tarn::inline TARN_ARCH
