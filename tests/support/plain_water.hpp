#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tarn/core/units.hpp"
#include "tarn/physics/water_model.hpp"

/// @file
/// The water models without formulas of tarn: a table from the literature, sites placed by their
/// definition, and plain loops over all pairs of sites, in long double.

namespace tarn::test {

/// Jorgensen et al. 1983, table I; SPC/E: Berendsen et al. 1987; the rest of sigma and epsilon as
/// OpenMM's files of force fields have them, in nm and kJ/mol.
struct PlainModel {
  const char* name;
  long double r_oh, angle_degrees, a, c, q_o, q_h, q_m, r_om;
};
inline long double plain_lj(long double sigma_nm, long double epsilon_kJ, int power) {
  return 4.0L * epsilon_kJ / 4.184L * std::pow(10.0L * sigma_nm, power);
}

inline const std::array<PlainModel, 11>& plain_models() {
  const long double k = .0019872041L * 4.184L;  // kJ/mol/K
  static const std::array<PlainModel, 11> all{{
      {"tip3p", .9572L, 104.52L, 582.0e3L, 595.0L, -.834L, .417L, 0, 0},
      {"spc", 1.0L, 109.47L, 629.4e3L, 625.5L, -.82L, .41L, 0, 0},
      {"spce", 1.0L, 109.47L, 629.4e3L, 625.5L, -.8476L, .4238L, 0, 0},
      {"bf", .96L, 105.7L, 560.4e3L, 837.0L, 0, .49L, -.98L, .15L},
      {"tips2", .9572L, 104.52L, 695.0e3L, 600.0L, 0, .535L, -1.07L, .15L},
      {"tip4p", .9572L, 104.52L, 600.0e3L, 610.0L, 0, .52L, -1.04L, .15L},
      {"tip4pew", .9572L, 104.52L, plain_lj(.316435L, .680946L, 12),
       plain_lj(.316435L, .680946L, 6), 0, .52422L, -1.04844L, .125L},
      {"tip4p2005", .9572L, 104.52L, plain_lj(.31589L, 93.2L * k, 12),
       plain_lj(.31589L, 93.2L * k, 6), 0, .5564L, -1.1128L, .1546L},
      {"tip4pice", .9572L, 104.52L, plain_lj(.31668L, 106.1L * k, 12),
       plain_lj(.31668L, 106.1L * k, 6), 0, .5897L, -1.1794L, .1577L},
      {"opc", .8724L, 103.6L, plain_lj(.316655L, .2128L * 4.184L, 12),
       plain_lj(.316655L, .2128L * 4.184L, 6), 0, .6791L, -1.3582L, .1594L},
      {"opc3", .97888L, 109.47L, plain_lj(.317427L, .16341L * 4.184L, 12),
       plain_lj(.317427L, .16341L * 4.184L, 6), -.8952L, .4476L, 0, 0},
  }};
  return all;
}

inline const PlainModel& plain_model(std::string_view name) {
  for (const PlainModel& model : plain_models()) {
    if (name == model.name) return model;
  }
  throw std::invalid_argument(std::string(name));
}

struct PlainEnergy {
  long double coulomb = 0, lj = 0;
  long double size = 0;             ///< sum of the sizes of all energies that were added
  std::vector<long double> forces;  ///< on O, H1, H2 of each molecule, M's share among them
  /// Sums of the sizes of df/d(ln y) over all pairs of sites, y their reciprocal distance: what a
  /// relative error of each 1/r can change a force by, times that error.
  std::vector<long double> by_roots;
  long double total() const { return coulomb + lj; }
};

/// @param x O, H1, H2 of each molecule, 9 N numbers; M is `r_om` from O on the bisector when the
/// molecule has the model's geometry, and the same combination of the atoms when it has not
template <class Numbers>
PlainEnergy plain_energy(const PlainModel& model, const Numbers& x,
                         long double coulomb_kcal_A_per_mol_e2 = 332.0637L) {
  const long double pi = std::acos(-1.0L);
  const std::size_t n = x.size() / 9;
  // The hydrogens' midpoint is r_OH cos(angle/2) from O; M is r_OM along the same line.
  const long double along = model.r_om / (model.r_oh * std::cos(model.angle_degrees * pi / 360.0L));
  const long double q[4] = {model.q_o, model.q_h, model.q_h, model.q_m};
  const long double parts[4][3] = {
      {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1 - along, along / 2, along / 2}};
  std::vector<std::array<std::array<long double, 3>, 4>> sites(n);
  for (std::size_t m = 0; m < n; ++m) {
    for (int s = 0; s < 4; ++s) {
      for (std::size_t k = 0; k < 3; ++k) {
        long double r = 0;
        for (std::size_t atom = 0; atom < 3; ++atom) r += parts[s][atom] * x[9 * m + 3 * atom + k];
        sites[m][s][k] = r;
      }
    }
  }
  PlainEnergy e;
  e.forces.assign(x.size(), 0);
  e.by_roots.assign(x.size(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      for (int pair = 0; pair < 16; ++pair) {
        const int s = pair / 4, t = pair % 4;
        if (pair > 0 && q[s] * q[t] == 0) continue;
        std::array<long double, 3> d;
        long double r2 = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          d[k] = sites[i][s][k] - sites[j][t][k];
          r2 += d[k] * d[k];
        }
        const long double coulomb = coulomb_kcal_A_per_mol_e2 * q[s] * q[t] / std::sqrt(r2);
        e.coulomb += coulomb;
        e.size += std::fabs(coulomb);
        long double minus_slope_by_r = coulomb / r2, by_root = 3 * std::fabs(coulomb) / r2;
        if (pair == 0) {
          const long double c = model.c / (r2 * r2 * r2);
          const long double a = model.a / (r2 * r2 * r2 * r2 * r2 * r2);
          e.lj += a - c;
          e.size += a + c;
          minus_slope_by_r += (12 * a - 6 * c) / r2;
          by_root += (14 * 12 * a + 8 * 6 * c) / r2;
        }
        for (std::size_t k = 0; k < 9; ++k) {
          const long double f_i = parts[s][k / 3] * d[k % 3], f_j = parts[t][k / 3] * d[k % 3];
          e.forces[9 * i + k] += f_i * minus_slope_by_r;
          e.forces[9 * j + k] -= f_j * minus_slope_by_r;
          e.by_roots[9 * i + k] += std::fabs(f_i) * by_root;
          e.by_roots[9 * j + k] += std::fabs(f_j) * by_root;
        }
      }
    }
  }
  return e;
}

/// The same with the parameters of tarn's table or of a changed model.
template <class Numbers>
PlainEnergy plain_energy(const WaterModel& model, const Numbers& x) {
  PlainModel plain{"",
                   model.r_oh_A,
                   model.angle_hoh_degrees,
                   model.lj_a_kcal_A12_per_mol,
                   model.lj_c_kcal_A6_per_mol,
                   model.charge_o_e,
                   model.charge_h_e,
                   model.charge_m_e,
                   model.r_om_A};
  if (model.m_site_gamma != 0.0) {
    const long double half = plain.angle_degrees * std::acos(-1.0L) / 360;
    plain.r_om = (1 - static_cast<long double>(model.m_site_gamma)) * plain.r_oh * std::cos(half);
  }
  return plain_energy(plain, x, units::coulomb_kcal_A_per_mol_e2);
}

/// Flexible models, in units of the papers.
struct PlainFlexibleModel {
  PlainModel pairs;
  IntramolecularModel bonds;
};
inline const std::array<PlainFlexibleModel, 4>& plain_flexible_models() {
  const auto lj = [](long double sigma, long double epsilon_kcal, int power) {
    return plain_lj(sigma / 10.0L, epsilon_kcal * 4.184L, power);
  };
  // M at gamma r_O + (1 - gamma)/2 (r_H1 + r_H2): (1 - gamma) of the way to the hydrogens'
  // midpoint.
  const long double to_m = (1.0L - .73612L) * .9419L * std::cos(53.7L * std::acos(-1.0L) / 180.0L);
  const long double k = .0019872041L;
  static const std::array<PlainFlexibleModel, 4> all{{
      {{"qtip4pf", .9419L, 107.4L, lj(3.1589L, .1852L, 12), lj(3.1589L, .1852L, 6), 0, .5564L,
        -1.1128L, to_m},
       {Stretch::quartic, 0, 116.09, 2.287, 87.85}},
      {{"tip4p2005f", .9419L, 107.4L, lj(3.1644L, 93.2L * k, 12), lj(3.1644L, 93.2L * k, 6), 0,
        .5564L, -1.1128L, to_m},
       {Stretch::morse, 0, 432.581 / 4.184, 2.287, 367.81 / 4.184}},
      {{"spcfw", 1.012L, 113.24L, lj(3.165492L, .1554253L, 12), lj(3.165492L, .1554253L, 6), -.82L,
        .41L, 0, 0},
       {Stretch::harmonic, 1059.162, 0, 0, 75.90}},
      {{"qspcfw", 1.0L, 112.0L, lj(3.165492L, .1554252L, 12), lj(3.165492L, .1554252L, 6), -.84L,
        .42L, 0, 0},
       {Stretch::harmonic, 1059.162, 0, 0, 75.90}},
  }};
  return all;
}

}  // namespace tarn::test
