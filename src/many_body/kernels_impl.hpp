#pragma once

#include "core/pack.hpp"
#include "formulas.hpp"
#include "kernels.hpp"

/// @file
/// The loops over packs. A lane holds an image, or for polynomials a dimer or trimer of any image;
/// its results do not depend on the other lanes.

namespace tarn {
inline namespace TARN_ARCH {
namespace {

using many_body::Block;
using many_body::kImages;
using P = Pack<double>;
using V = Vec3<P>;

void store(const V& v, double* rows, int row_size = kImages) {
  v.x.store(rows);
  v.y.store(rows + row_size);
  v.z.store(rows + 2 * row_size);
}
void store_as(const P& a, double* p) { a.store(p); }
void store_as(const P& a, float* p) { store_rounded(a, p); }
P load_as(const double* p) { return P::load(p); }
P load_as(const float* p) { return load_widened(p); }

// --- the dipole equations ------------------------------------------------------------------------

/// The lower half of a symmetric matrix of blocks of 3 x 3 numbers, row by row.
class BlockMatrix {
 public:
  explicit BlockMatrix(P* blocks) : blocks_(blocks) {}
  P (*block(int row, int column) const)[3] {
    return reinterpret_cast<P(*)[3]>(blocks_ + 9 * (row * (row + 1) / 2 + column));
  }

 private:
  P* blocks_;
};

/// Replaces a positive definite matrix by its Cholesky factor, whose diagonal is stored inverted.
/// @return the smallest pivot
P factorise(int n, const BlockMatrix& m) {
  P smallest = P(1e300);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column <= row; ++column) {
      P(*const out)[3] = m.block(row, column);
      P s[3][3];
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) s[a][b] = out[a][b];
      }
      for (int k = 0; k < column; ++k) {
        const P(*const left)[3] = m.block(row, k), (*const right)[3] = m.block(column, k);
        TARN_UNROLL(3)
        for (int c = 0; c < 3; ++c) {
          TARN_UNROLL(3)
          for (int a = 0; a < 3; ++a) {
            TARN_UNROLL(3)
            for (int b = 0; b < 3; ++b) s[a][b] = fnma(left[a][c], right[b][c], s[a][b]);
          }
        }
      }
      const P(*const diagonal)[3] = row == column ? s : m.block(column, column);
      for (int b = 0; b < 3; ++b) {
        if (row == column) {
          for (int c = 0; c < b; ++c) s[b][b] = fnma(s[b][c], s[b][c], s[b][b]);
          smallest = select(s[b][b] > smallest, smallest, s[b][b]);
          s[b][b] = P(1.0) / sqrt(s[b][b]);
        }
        for (int a = row == column ? b + 1 : 0; a < 3; ++a) {
          for (int c = 0; c < b; ++c) s[a][b] = fnma(s[a][c], diagonal[b][c], s[a][b]);
          s[a][b] = s[a][b] * diagonal[b][b];
        }
      }
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) out[a][b] = s[a][b];
      }
    }
  }
  return smallest;
}

/// Solves the equations of a factorised matrix; x is the right-hand side and the solution.
void solve(int n, const BlockMatrix& m, P* x) {
  for (int row = 0; row < n; ++row) {
    P *const r = x + 3 * row, (*const diagonal)[3] = m.block(row, row);
    for (int k = 0; k < row; ++k) {
      const P(*const l)[3] = m.block(row, k);
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) r[a] = fnma(l[a][b], x[3 * k + b], r[a]);
      }
    }
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < a; ++b) r[a] = fnma(diagonal[a][b], r[b], r[a]);
      r[a] = r[a] * diagonal[a][a];
    }
  }
  for (int row = n - 1; row >= 0; --row) {
    P *const r = x + 3 * row, (*const diagonal)[3] = m.block(row, row);
    for (int a = 2; a >= 0; --a) {
      for (int b = a + 1; b < 3; ++b) r[a] = fnma(diagonal[b][a], r[b], r[a]);
      r[a] = r[a] * diagonal[a][a];
    }
    for (int k = 0; k < row; ++k) {
      const P(*const l)[3] = m.block(row, k);
      for (int b = 0; b < 3; ++b) {
        for (int a = 0; a < 3; ++a) x[3 * k + b] = fnma(l[a][b], r[a], x[3 * k + b]);
      }
    }
  }
}

// --- models --------------------------------------------------------------------------------------
// Sites of a molecule are O, H1, H2, M, numbered from 0; charges are on H1, H2 and M.

/// MB-pol (TTM4-F): damped, with dipoles on the atoms.
struct MbPol {
  static constexpr bool kIsDamped = true, kIsFlexible = true;
  static constexpr int kPolarSites = 3;
  static constexpr double kRoot = 18.222615317236983;  // of the Coulomb constant, 332.063709
  static constexpr double kWeightOfH = 0.213353441;    // of M; that of O is the rest
  static constexpr double kGamma = 1.0 - 0.426706882, kShare = 0.5 * 0.426706882 / kGamma;
  static constexpr bool is_polar(int site) { return site < 3; }
  static constexpr int polar_index(int site) { return site; }
  static constexpr double inverse_polarisability(int site) {
    return site == 0 ? 1.0 / 1.310 : 1.0 / 0.294;
  }
  // By the number of H in a pair of sites: tau/A^4, A^6 = a_i a_j, a = 1.310 (O, M), 0.294 A^3 (H).
  static constexpr double kChargeDamping[] = {0.2790604330158333, 0.755638784256513,
                                              2.0461158398627726};  // tau = 0.4
  static constexpr double kChargeRate[] = {0.7268161451356526, 0.9323491090609639,
                                           1.1960037858054626};  // tau^(1/4)/A
  static constexpr double kDipoleDamping[] = {0.03837080953967707, 0.10390033283527052,
                                              0.2813409279811312};  // tau = 0.055
  static constexpr double bond_damping(int site) {                  // tau = 0.626 for OH
    return site == 0 ? 1.1825746973614426 : kDipoleDamping[2];
  }
  static constexpr bool has_attraction(int s, int t) { return s < 3 && t < 3; }
  static Slope<P> attraction(const P& r, const P& inverse_r, int h) {
    constexpr double kC6[] = {237.32122131931163, 83.49556668260037, 20.09358599426386};
    constexpr double kRate[] = {9.29548582, 9.77520243, 9.40647517};
    return dispersion(r, inverse_r, kC6[h], kRate[h]);
  }
};

/// Dang-Chang 1997: rigid, undamped, one dipole on M.
struct DangChang {
  static constexpr bool kIsDamped = false, kIsFlexible = false;
  static constexpr int kPolarSites = 1;
  static constexpr double kRoot = 18.222615435222245;        // of the Coulomb constant, 332.0637133
  static constexpr double kWeightOfH = 0.18348395964542336;  // 0.215 A/(2 0.9572 A cos(52.26 deg))
  static constexpr double kChargeOfH = 0.519;
  static constexpr double kChargeDamping[3] = {}, kDipoleDamping[3] = {};
  static constexpr bool is_polar(int site) { return site == 3; }
  static constexpr int polar_index(int) { return 0; }
  static constexpr double inverse_polarisability(int) { return 1.0 / 1.444; }
  static constexpr double bond_damping(int) { return 0.0; }
  static constexpr bool has_attraction(int s, int t) { return s == 0 && t == 0; }
  static Slope<P> attraction(const P&, const P& inverse_r, int) {  // Lennard-Jones
    constexpr double kEpsilon = 0.1825, kSigma2 = 3.234 * 3.234;
    const P inverse2 = inverse_r * inverse_r, ratio2 = P(kSigma2) * inverse2;
    const P ratio6 = ratio2 * ratio2 * ratio2;
    return {P(4.0 * kEpsilon) * ratio6 * (ratio6 - P(1.0)),
            P(-24.0 * kEpsilon) * ratio6 * (P(2.0) * ratio6 - P(1.0)) * inverse2};
  }
};

constexpr int hydrogens(int s, int t) {
  return static_cast<int>(s == 1 || s == 2) + static_cast<int>(t == 1 || t == 2);
}
/// Whether a pair of sites has a term of charge and dipole.
template <class Model>
constexpr bool has_field(int s, int t) {
  return (s != 0 && Model::is_polar(t)) || (t != 0 && Model::is_polar(s));
}

/// Memory of a block: arrays over the sites and the molecules.
struct Arrays {
  V *site, *gradient;                // [molecule][4]
  V *field, *dipole;                 // [molecule][polar site]
  P *charge, *potential;             // [molecule][4]; those of O are not used
  BondFunction<P>*surface, *energy;  // [molecule][2], [molecule]
  BlockMatrix matrix;

  Arrays(double* work, int n)
      : site(reinterpret_cast<V*>(work)),
        gradient(site + 4 * n),
        field(gradient + 4 * n),
        dipole(field + 3 * n),
        charge(reinterpret_cast<P*>(dipole + 3 * n)),
        potential(charge + 4 * n),
        surface(reinterpret_cast<BondFunction<P>*>(potential + 4 * n)),
        energy(surface + 2 * n),
        matrix(reinterpret_cast<P*>(energy + n)) {}
};

/// Sites and charges of the molecules. Charges and dipoles are multiplied by the square root of the
/// Coulomb constant.
template <class Model>
void place_sites(const Block& block, const double* x, const Arrays& a) {
  for (int m = 0; m < block.molecules; ++m) {
    V* const site = a.site + 4 * m;
    for (int k = 0; k < 3; ++k) {
      const double* const row = x + (9 * m + 3 * k) * kImages;
      site[k] = {P::load(row), P::load(row + kImages), P::load(row + 2 * kImages)};
    }
    site[3] = fma(P(Model::kWeightOfH), (site[1] - site[0]) + (site[2] - site[0]), site[0]);
    P* const q = a.charge + 4 * m;
    if constexpr (Model::kIsFlexible) {
      const Bonds<P> bonds(site[0], site[1], site[2]);
      a.energy[m] = monomer_energy(bonds, block.energy_rows);
      BondFunction<P>* const surface = a.surface + 2 * m;
      dipole_surface(bonds, block.charge_rows, surface);
      const P sum = surface[0].value + surface[1].value;
      q[1] = P(Model::kRoot) * fma(P(Model::kShare), sum, surface[0].value);
      q[2] = P(Model::kRoot) * fma(P(Model::kShare), sum, surface[1].value);
      q[3] = P(-Model::kRoot / Model::kGamma) * sum;
    } else {
      q[1] = q[2] = P(Model::kRoot * Model::kChargeOfH);
      q[3] = P(-2.0 * Model::kRoot * Model::kChargeOfH);
    }
  }
}

/// Calls f(molecule i, site s, molecule j, site t) for the pairs of sites of different molecules.
template <class F>
void for_each_pair(int molecules, const F& f) {
  for (int j = 1; j < molecules; ++j) {
    for (int i = 0; i < j; ++i) {
      for (int s = 0; s < 4; ++s) {
        for (int t = 0; t < 4; ++t) f(i, s, j, t);
      }
    }
  }
}

/// The fields of the charges, and the matrix of the dipole equations.
template <class Model>
void make_equations(int molecules, const Arrays& a) {
  constexpr int kPolar = Model::kPolarSites;
  const auto set_block = [&](int row, int column, const V& d, const P& square, double k4) {
    const auto t = Thole<P>::make<Model::kIsDamped>(square, rsqrt(square), k4);
    P(*const out)[3] = a.matrix.block(row, column);
    const P v[] = {d.x, d.y, d.z}, t5 = P(-3.0) * t.t5;
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) out[k][l] = fma(t5 * v[k], v[l], k == l ? t.t3 : P(0.0));
    }
  };
  for (int m = 0; m < molecules * kPolar; ++m) a.field[m] = {P(0.0), P(0.0), P(0.0)};
  for_each_pair(molecules, [&](int i, int s, int j, int t) {
    const bool both_polar = Model::is_polar(s) && Model::is_polar(t);
    if (!both_polar && !has_field<Model>(s, t)) return;
    const V d = a.site[4 * j + t] - a.site[4 * i + s];
    const P square = norm2(d);
    if (has_field<Model>(s, t)) {
      const double k4 = Model::kChargeDamping[hydrogens(s, t)];
      const V td = Thole<P>::make<Model::kIsDamped>(square, rsqrt(square), k4).t3 * d;
      if (t != 0 && Model::is_polar(s)) {
        V& field = a.field[kPolar * i + Model::polar_index(s)];
        field = fnma(a.charge[4 * j + t], td, field);
      }
      if (s != 0 && Model::is_polar(t)) {
        V& field = a.field[kPolar * j + Model::polar_index(t)];
        field = fma(a.charge[4 * i + s], td, field);
      }
    }
    if (both_polar) {
      set_block(kPolar * j + Model::polar_index(t), kPolar * i + Model::polar_index(s), d, square,
                Model::kDipoleDamping[hydrogens(s, t)]);
    }
  });
  for (int m = 0; m < molecules; ++m) {
    for (int t = 0; t < kPolar; ++t) {
      for (int s = 0; s < t; ++s) {
        const V d = a.site[4 * m + t] - a.site[4 * m + s];
        set_block(kPolar * m + t, kPolar * m + s, d, norm2(d), Model::bond_damping(s));
      }
      P(*const out)[3] = a.matrix.block(kPolar * m + t, kPolar * m + t);
      for (int k = 0; k < 3; ++k) {
        for (int l = 0; l < 3; ++l) {
          out[k][l] = P(k == l ? Model::inverse_polarisability(t) : 0.0);
        }
      }
    }
  }
}

/// The gradient by d of the energy of two dipoles, d from the first to the second.
V dipole_gradient(const Thole<P>& t, const V& d, const V& first, const V& second) {
  const P along1 = dot(d, first), along2 = dot(d, second);
  const P radial = P(15.0) * t.t7 * along1 * along2 - P(3.0) * t.t5 * dot(first, second);
  return fma(radial, d, P(-3.0) * t.t5 * fma(along2, first, along1 * second));
}

/// Energies, potentials at the charges and gradients of all pairs of sites, for given dipoles.
template <class Model>
void add_pairs(int molecules, const Arrays& a, P* terms) {
  constexpr int kPolar = Model::kPolarSites;
  const auto dipole = [&](int m, int site) -> const V& {
    return a.dipole[kPolar * m + Model::polar_index(site)];
  };
  const auto add = [&](int i, int s, int j, int t, const V& g) {
    a.gradient[4 * j + t] = a.gradient[4 * j + t] + g;
    a.gradient[4 * i + s] = a.gradient[4 * i + s] - g;
  };
  for_each_pair(molecules, [&](int i, int s, int j, int t) {
    const V d = a.site[4 * j + t] - a.site[4 * i + s];
    const P square = norm2(d), inverse_r = rsqrt(square);
    const int h = hydrogens(s, t);
    P radial = P(0.0);
    V g = {P(0.0), P(0.0), P(0.0)};
    const bool charges = s != 0 && t != 0;
    if (charges || has_field<Model>(s, t)) {
      const auto damped =
          Thole<P>::make<Model::kIsDamped>(square, inverse_r, Model::kChargeDamping[h]);
      const P qs = a.charge[4 * i + s], qt = a.charge[4 * j + t];
      P& potential_s = a.potential[4 * i + s];
      P& potential_t = a.potential[4 * j + t];
      if (charges) {
        P t1 = inverse_r;
        if constexpr (Model::kIsDamped) {
          t1 = t1 * damped_charges(P(Model::kChargeRate[h]) * square * inverse_r, damped.e);
        }
        terms[many_body::kCharges] = fma(qs * qt, t1, terms[many_body::kCharges]);
        potential_s = fma(qt, t1, potential_s);
        potential_t = fma(qs, t1, potential_t);
        radial = -(qs * qt) * damped.t3;
      }
      if (t != 0 && Model::is_polar(s)) {
        const P along = dot(d, dipole(i, s)), q3 = qt * damped.t3;
        potential_t = fma(damped.t3, along, potential_t);
        radial = fnma(P(3.0) * qt * damped.t5, along, radial);
        g = fma(q3, dipole(i, s), g);
      }
      if (s != 0 && Model::is_polar(t)) {
        const P along = dot(d, dipole(j, t)), q3 = qs * damped.t3;
        potential_s = fnma(damped.t3, along, potential_s);
        radial = fma(P(3.0) * qs * damped.t5, along, radial);
        g = fnma(q3, dipole(j, t), g);
      }
    }
    if (Model::is_polar(s) && Model::is_polar(t)) {
      const auto damped =
          Thole<P>::make<Model::kIsDamped>(square, inverse_r, Model::kDipoleDamping[h]);
      g = g + dipole_gradient(damped, d, dipole(i, s), dipole(j, t));
    }
    if (Model::has_attraction(s, t)) {
      const Slope<P> pair = Model::attraction(square * inverse_r, inverse_r, h);
      terms[many_body::kDispersion] = terms[many_body::kDispersion] + pair.value;
      radial = radial + pair.derivative;
    }
    add(i, s, j, t, fma(radial, d, g));
  });
  for (int m = 0; m < molecules; ++m) {
    for (int t = 0; t < kPolar; ++t) {
      for (int s = 0; s < t; ++s) {
        const V d = a.site[4 * m + t] - a.site[4 * m + s];
        const P square = norm2(d);
        const auto damped =
            Thole<P>::make<Model::kIsDamped>(square, rsqrt(square), Model::bond_damping(s));
        add(m, s, m, t, dipole_gradient(damped, d, dipole(m, s), dipole(m, t)));
      }
    }
  }
}

/// All terms except the polynomials.
template <class Model>
void compute_block(const Block& block) {
  const int n = block.molecules, dipoles = n * Model::kPolarSites;
  const Arrays a(block.work, n);
  for (int lane = 0; lane < block.images; lane += P::lanes) {
    place_sites<Model>(block, block.x + lane, a);
    make_equations<Model>(n, a);
    for (int k = 0; k < dipoles; ++k) a.dipole[k] = a.field[k];
    factorise(dipoles, a.matrix).store(block.pivot + lane);
    solve(dipoles, a.matrix, &a.dipole[0].x);

    P terms[many_body::kTerms];
    for (P& term : terms) term = P(0.0);
    V moment = {P(0.0), P(0.0), P(0.0)};
    for (int k = 0; k < 4 * n; ++k) {
      a.gradient[k] = {P(0.0), P(0.0), P(0.0)};
      a.potential[k] = P(0.0);
    }
    add_pairs<Model>(n, a, terms);
    for (int k = 0; k < dipoles; ++k) {
      terms[many_body::kInduction] =
          fma(P(-0.5), dot(a.field[k], a.dipole[k]), terms[many_body::kInduction]);
      moment = moment + a.dipole[k];
    }
    for (int m = 0; m < n; ++m) {
      V *const g = a.gradient + 4 * m, *const site = a.site + 4 * m;
      const P *const q = a.charge + 4 * m, *const potential = a.potential + 4 * m;
      for (int k = 1; k < 4; ++k) moment = fma(q[k], site[k], moment);
      for (int k = 0; k < 3; ++k) {
        g[k] = fma(P(k == 0 ? 1.0 - 2.0 * Model::kWeightOfH : Model::kWeightOfH), g[3], g[k]);
      }
      if constexpr (Model::kIsFlexible) {
        const BondFunction<P>&energy = a.energy[m], *const surface = a.surface + 2 * m;
        const P both = fma(P(Model::kShare), potential[1] + potential[2],
                           P(-1.0 / Model::kGamma) * potential[3]);
        const P by1 = P(Model::kRoot) * (potential[1] + both);
        const P by2 = P(Model::kRoot) * (potential[2] + both);
        add_bond_gradient(Bonds<P>(site[0], site[1], site[2]),
                          fma(by1, surface[0].r1, fma(by2, surface[1].r1, energy.r1)),
                          fma(by1, surface[0].r2, fma(by2, surface[1].r2, energy.r2)),
                          fma(by1, surface[0].c, fma(by2, surface[1].c, energy.c)), g[0], g[1],
                          g[2]);
        terms[many_body::kOneBody] = terms[many_body::kOneBody] + energy.value;
      }
      for (int k = 0; k < 3; ++k) store(g[k], block.gradient + (9 * m + 3 * k) * kImages + lane);
    }
    for (int k = 0; k < many_body::kTerms; ++k) terms[k].store(block.terms + k * kImages + lane);
    store(P(1.0 / Model::kRoot) * moment, block.dipole + lane);
  }
}

// --- polynomials ---------------------------------------------------------------------------------

/// Sums and differences of the variables of an orbit; divided by its size, they are s.
void add_and_subtract(P* x, int size) {
  if (size == 1) return;
  const P a = x[0] + x[1], b = x[0] - x[1];
  x[0] = a;
  x[1] = b;
  if (size == 2) return;
  const P c = x[2] + x[3], d = x[2] - x[3];
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}

/// z, and the derivatives by them.
template <class Z>
struct Factors {
  Z z[many_body::kMostFactors], dz[many_body::kMostFactors];
};
/// The polynomial and its derivatives. @tparam Z the packs of the products
template <class Z>
Z sum_products(const many_body::PolynomialView<scalar_t<Z>>& t, Factors<Z>& f) {
  constexpr auto kZero = scalar_t<Z>(0);
  const int first = t.variable_count + 1, rows = first + t.product_count;
  for (int k = 0; k < t.product_count; ++k) {
    f.z[first + k] = f.z[t.products[k].a] * f.z[t.products[k].b];
  }
  for (int k = 0; k < rows; ++k) f.dz[k] = Z(kZero);
  Z value = Z(kZero);
  for (int group = 0, tile = 0; group < t.group_count; ++group) {
    const auto& [row, end] = t.groups[group];
    Z z_row[many_body::kGroup], sum[many_body::kGroup];
    for (int i = 0; i < many_body::kGroup; ++i) {
      z_row[i] = f.z[row[i]];
      sum[i] = Z(kZero);
    }
    for (; tile < end; ++tile) {
      const int column = t.columns[tile];
      const Z z = f.z[column];
      Z dz = f.dz[column];
      TARN_UNROLL(4)
      for (int i = 0; i < many_body::kGroup; ++i) {
        const Z c = Z(t.coefficients[many_body::kGroup * tile + i]);
        sum[i] = fma(c, z, sum[i]);
        dz = fma(c, z_row[i], dz);
      }
      f.dz[column] = dz;
    }
    for (int i = 0; i < many_body::kGroup; ++i) {
      value = fma(z_row[i], sum[i], value);
      f.dz[row[i]] = f.dz[row[i]] + sum[i];
    }
  }
  for (int k = t.product_count - 1; k >= 0; --k) {
    const auto [a, b] = t.products[k];
    f.dz[a] = fma(f.dz[first + k], f.z[b], f.dz[a]);
    f.dz[b] = fma(f.dz[first + k], f.z[a], f.dz[b]);
  }
  return value;
}

/// The sites of a dimer beyond its atoms: lone pairs O + g (OH1 + OH2)/2 +- h OH1 x OH2.
inline constexpr double kLonePairInPlane = -0.09721486914088159 / 2;
inline constexpr double kLonePairOutOfPlane = 0.0985927207840615;

template <int kBodies>
void place_lone_pairs(V* site) {
  for (int m = 0; m < kBodies; ++m, site += 5) {
    const V d1 = site[1] - site[0], d2 = site[2] - site[0];
    const V middle = fma(P(kLonePairInPlane), d1 + d2, site[0]);
    const V normal = P(kLonePairOutOfPlane) * cross(d1, d2);
    site[3] = middle + normal;
    site[4] = middle - normal;
  }
}
/// Moves the gradient from the lone pairs to the atoms.
template <int kBodies>
void spread_lone_pairs(const V* site, V* g) {
  for (int m = 0; m < kBodies; ++m, site += 5, g += 5) {
    const V d1 = site[1] - site[0], d2 = site[2] - site[0];
    const V sum = g[3] + g[4], difference = P(kLonePairOutOfPlane) * (g[3] - g[4]);
    const V g1 = fma(P(kLonePairInPlane), sum, cross(d2, difference));
    const V g2 = fma(P(kLonePairInPlane), sum, cross(difference, d1));
    g[0] = g[0] + (sum - g1 - g2);
    g[1] = g[1] + g1;
    g[2] = g[2] + g2;
  }
}

/// The switch of a dimer or trimer and its gradient, times the energy before it: adds these to the
/// gradient. @param site oxygen k is site[k * sites of a molecule]
/// @return the switch
template <int kBodies>
P add_switch(const V* site, const P& energy, V* g) {
  constexpr int kPairs = kBodies == 2 ? 1 : 3, kSites = kBodies == 2 ? 5 : 3;
  constexpr int kFirst[] = {0, 0, 1}, kSecond[] = {1, 2, 2};
  Slope<P> s[3];
  V along[3];
  for (int k = 0; k < kPairs; ++k) {
    const V d = site[kSites * kSecond[k]] - site[kSites * kFirst[k]];
    const P square = norm2(d), inverse_r = rsqrt(square);
    s[k] = kBodies == 2 ? switch_off(square * inverse_r, 4.5, 6.5)
                        : switch_off(square * inverse_r, 0.0, 4.5);
    along[k] = inverse_r * d;
  }
  P value = s[0].value;
  for (int k = 0; k < kPairs; ++k) {
    P slope = s[k].derivative;
    if constexpr (kBodies == 3) slope = slope * (s[(k + 1) % 3].value + s[(k + 2) % 3].value);
    const V force = (energy * slope) * along[k];
    g[kSites * kSecond[k]] = g[kSites * kSecond[k]] + force;
    g[kSites * kFirst[k]] = g[kSites * kFirst[k]] - force;
  }
  if constexpr (kBodies == 3) {
    value = fma(s[0].value, s[1].value, s[2].value * (s[0].value + s[1].value));
  }
  return value;
}

/// Energies and gradients of dimers or trimers in lanes. @tparam S numbers of the products
template <int kBodies, class S>
void polynomial(const many_body::PolynomialView<S>& t, const double* in, double* out) {
  using Z = Pack<S>;
  constexpr int kSites = kBodies == 2 ? 5 : 3, kMostVariables = 36;
  constexpr int kPacks = Z::lanes / P::lanes, kLanes = Z::lanes;
  V site[kPacks][kBodies * kSites];
  P slope[kPacks][kMostVariables];  // derivatives of the variables by the distance, divided by it
  Factors<Z> f;
  f.z[0] = Z(S(1));
  for (int p = 0; p < kPacks; ++p) {
    for (int k = 0; k < 3 * kBodies; ++k) {
      const double* const row = in + 3 * k * kLanes + p * P::lanes;
      site[p][k / 3 * kSites + k % 3] = {P::load(row), P::load(row + kLanes),
                                         P::load(row + 2 * kLanes)};
    }
    if constexpr (kBodies == 2) place_lone_pairs<kBodies>(site[p]);
    P x[kMostVariables];
    for (int v = 0; v < t.variable_count; ++v) {
      const auto [i, j, k, offset, by_r] = t.variables[v];
      const P square = norm2(site[p][j] - site[p][i]), inverse_r = rsqrt(square);
      const P divisor = fma(P(by_r), inverse_r, P(1.0 - by_r));
      x[v] = exponential(fnma(P(k), square * inverse_r, P(offset))) * divisor;
      slope[p][v] = fnma(P(by_r), inverse_r, P(-k)) * inverse_r * x[v];
    }
    for (int o = 0; o < t.orbit_count; ++o) {
      const auto [begin, size, mean] = t.orbits[o];
      add_and_subtract(x + begin, size);
      for (int v = begin; v < begin + size; ++v) {
        const P s = fma(P(1.0 / size), x[v], P(v == begin ? -mean : 0.0));
        store_as(s, reinterpret_cast<S*>(&f.z[1 + v]) + p * P::lanes);
      }
    }
  }
  const Z value = sum_products(t, f);
  for (int p = 0; p < kPacks; ++p) {
    const P energy = load_as(reinterpret_cast<const S*>(&value) + p * P::lanes);
    V g[kBodies * kSites];
    for (V& v : g) v = {P(0.0), P(0.0), P(0.0)};
    const P factor = add_switch<kBodies>(site[p], energy, g);
    P x[kMostVariables];
    for (int v = 0; v < t.variable_count; ++v) {
      x[v] = load_as(reinterpret_cast<const S*>(&f.dz[1 + v]) + p * P::lanes);
    }
    for (int o = 0; o < t.orbit_count; ++o) {
      const auto [begin, size, mean] = t.orbits[o];
      add_and_subtract(x + begin, size);
      for (int v = begin; v < begin + size; ++v) x[v] = P(1.0 / size) * factor * x[v];
    }
    for (int v = 0; v < t.variable_count; ++v) {
      const int i = t.variables[v].a, j = t.variables[v].b;
      const V force = (x[v] * slope[p][v]) * (site[p][j] - site[p][i]);
      g[j] = g[j] + force;
      g[i] = g[i] - force;
    }
    if constexpr (kBodies == 2) spread_lone_pairs<kBodies>(site[p], g);
    for (int k = 0; k < 3 * kBodies; ++k) {
      store(g[k / 3 * kSites + k % 3], out + 3 * k * kLanes + p * P::lanes, kLanes);
    }
    (factor * energy).store(out + 9 * kBodies * kLanes + p * P::lanes);
  }
}

constexpr many_body::Kernels make_kernels(const char* name) {
  return {name,
          compute_block<MbPol>,
          compute_block<DangChang>,
          polynomial<2, double>,
          polynomial<3, double>,
          polynomial<3, float>,
          P::lanes,
          Pack<float>::lanes};
}

}  // namespace
}  // namespace TARN_ARCH
}  // namespace tarn
