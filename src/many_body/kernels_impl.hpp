#pragma once

#include "core/pack.hpp"
#include "formulas.hpp"
#include "kernels.hpp"

/// @file
/// The loops over packs. A lane holds an image, or for polynomials a dimer or trimer of any image;
/// its results do not depend on the other lanes.

namespace tarn::inline TARN_ARCH {
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

/// Memory of a block.
struct Arrays : SiteArrays<P> {
  BlockMatrix matrix;

  Arrays(double* work, int n) : SiteArrays(work, n), matrix(reinterpret_cast<P*>(monomer + n)) {}
};

/// Sites and charges of the molecules.
template <class Model>
void place_sites(const Block& block, const double* x, const Arrays& a) {
  for (int m = 0; m < block.molecules; ++m) {
    V* const site = a.site + 4 * m;
    for (int k = 0; k < 3; ++k) {
      const double* const row = x + (9 * m + 3 * k) * kImages;
      site[k] = {P::load(row), P::load(row + kImages), P::load(row + 2 * kImages)};
    }
    place_charges<Model>(block.energy_rows, block.charge_rows, site, a.charge + 4 * m,
                         a.monomer[m]);
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
    dipole_block(Thole<P>::make<Model::kIsDamped>(square, rsqrt(square), k4), d,
                 a.matrix.block(row, column));
  };
  for (int m = 0; m < molecules * kPolar; ++m) a.field[m] = {P(0.0), P(0.0), P(0.0)};
  for_each_pair(molecules, [&](int i, int s, int j, int t) {
    const bool both_polar = Model::is_polar(s) && Model::is_polar(t);
    if (!both_polar && !has_field<Model>(s, t)) return;
    const V d = a.site[4 * j + t] - a.site[4 * i + s];
    const P square = norm2(d);
    if (has_field<Model>(s, t)) {
      const double k4 = Model::charge_damping(hydrogens(s, t));
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
                Model::dipole_damping(hydrogens(s, t)));
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
    add(i, s, j, t,
        add_site_pair<Model>(s, t, a.site[4 * j + t] - a.site[4 * i + s], a.charge[4 * i + s],
                             a.charge[4 * j + t], dipole(i, s), dipole(j, t),
                             a.potential[4 * i + s], a.potential[4 * j + t],
                             terms[many_body::kCharges], terms[many_body::kDispersion]));
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
    const auto scaled = [&](int k) { return P(block.field[k] / Model::kRoot); };
    const V field{scaled(0), scaled(1), scaled(2)};
    for (int k = 0; k < dipoles; ++k) a.dipole[k] = a.field[k] = a.field[k] + field;
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
    terms[many_body::kInduction] = terms[many_body::kInduction] + dot(field, moment);
    for (int m = 0; m < n; ++m) {
      V *const g = a.gradient + 4 * m, *const site = a.site + 4 * m;
      const P* const q = a.charge + 4 * m;
      P* const potential = a.potential + 4 * m;
      for (int k = 1; k < 4; ++k) {
        moment = fma(q[k], site[k], moment);
        potential[k] = potential[k] - dot(field, site[k]);
        g[k] = fnma(q[k], field, g[k]);
      }
      gather_monomer<Model>(site, potential, a.monomer[m], g);
      if constexpr (Model::kIsFlexible) {
        terms[many_body::kOneBody] = terms[many_body::kOneBody] + a.monomer[m].energy.value;
      }
      for (int k = 0; k < 3; ++k) store(g[k], block.gradient + (9 * m + 3 * k) * kImages + lane);
    }
    terms[many_body::kField] = -dot(field, moment);
    for (int k = 0; k < many_body::kTerms; ++k) terms[k].store(block.terms + k * kImages + lane);
    store(P(1.0 / Model::kRoot) * moment, block.dipole + lane);
  }
}

// --- polynomials ---------------------------------------------------------------------------------

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

/// Energies and gradients of dimers or trimers in lanes. @tparam S numbers of the products
template <int kBodies, class S>
void polynomial(const many_body::PolynomialView<S>& t, const double* in, double* out) {
  using Z = Pack<S>;
  constexpr int kSites = kPolynomialSites<kBodies>, kMostVariables = 36;
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
    if constexpr (kBodies == 2) {
      for (int m = 0; m < kBodies; ++m) place_lone_pairs(site[p] + m * kSites);
    }
    P x[kMostVariables];
    for (int v = 0; v < t.variable_count; ++v) {
      const many_body::Variable& variable = t.variables[v];
      const Slope<P> at = variable_at(variable, site[p][variable.b] - site[p][variable.a]);
      x[v] = at.value;
      slope[p][v] = at.derivative;
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
    if constexpr (kBodies == 2) {
      for (int m = 0; m < kBodies; ++m) spread_lone_pairs(site[p] + m * kSites, g + m * kSites);
    }
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
}  // namespace tarn::inline TARN_ARCH
