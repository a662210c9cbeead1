#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// @file
/// The water models, independent of tarn: a table from the literature, sites placed by their
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
  std::vector<long double> forces;  ///< on O, H1, H2 of each molecule, M's share among them
  long double total() const { return coulomb + lj; }
};

/// @param x O, H1, H2 of each molecule, 9 N numbers; M is `r_om` from O on the bisector when the
/// molecule has the model's geometry, and the same combination of the atoms when it has not
template <class Numbers>
PlainEnergy plain_energy(const PlainModel& model, const Numbers& x) {
  constexpr long double kCoulomb = 332.0637L;
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
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      for (int s = 0; s < 4; ++s) {
        for (int t = 0; t < 4; ++t) {
          std::array<long double, 3> d;
          long double r2 = 0;
          for (std::size_t k = 0; k < 3; ++k) {
            d[k] = sites[i][s][k] - sites[j][t][k];
            r2 += d[k] * d[k];
          }
          const long double coulomb = kCoulomb * q[s] * q[t] / std::sqrt(r2);
          e.coulomb += coulomb;
          long double minus_slope_by_r = coulomb / r2;
          if (s == 0 && t == 0) {
            const long double c = model.c / (r2 * r2 * r2);
            const long double a = model.a / (r2 * r2 * r2 * r2 * r2 * r2);
            e.lj += a - c;
            minus_slope_by_r += (12 * a - 6 * c) / r2;
          }
          for (std::size_t k = 0; k < 3; ++k) {
            for (std::size_t atom = 0; atom < 3; ++atom) {
              e.forces[9 * i + 3 * atom + k] += parts[s][atom] * minus_slope_by_r * d[k];
              e.forces[9 * j + 3 * atom + k] -= parts[t][atom] * minus_slope_by_r * d[k];
            }
          }
        }
      }
    }
  }
  return e;
}

}  // namespace tarn::test
