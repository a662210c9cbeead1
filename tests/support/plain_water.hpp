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

/// Flexible models: the form of the stretch with its stiffness or depth [kcal/mol/A^2, kcal/mol]
/// and alpha [1/A], and the stiffness of the bend [kcal/mol/rad^2]. In units of the papers.
enum class PlainStretch { harmonic, quartic, morse };
struct PlainFlexibleModel {
  PlainModel pairs;
  PlainStretch stretch;
  long double strength, alpha, bend;
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
       PlainStretch::quartic,
       116.09L,
       2.287L,
       87.85L},
      {{"tip4p2005f", .9419L, 107.4L, lj(3.1644L, 93.2L * k, 12), lj(3.1644L, 93.2L * k, 6), 0,
        .5564L, -1.1128L, to_m},
       PlainStretch::morse,
       432.581L / 4.184L,
       2.287L,
       367.81L / 4.184L},
      {{"spcfw", 1.012L, 113.24L, lj(3.165492L, .1554253L, 12), lj(3.165492L, .1554253L, 6), -.82L,
        .41L, 0, 0},
       PlainStretch::harmonic,
       1059.162L,
       0,
       75.90L},
      {{"qspcfw", 1.0L, 112.0L, lj(3.165492L, .1554252L, 12), lj(3.165492L, .1554252L, 6), -.84L,
        .42L, 0, 0},
       PlainStretch::harmonic,
       1059.162L,
       0,
       75.90L},
  }};
  return all;
}

/// Adds the intramolecular energy and forces of all molecules. @return the energy
template <class Numbers>
long double add_plain_bonds(const PlainFlexibleModel& model, const Numbers& x,
                            std::vector<long double>& forces) {
  using Vector = std::array<long double, 3>;
  const auto dot = [](const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  long double energy = 0;
  for (std::size_t m = 0; m < x.size(); m += 9) {
    Vector d[2];
    long double r[2];
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t k = 0; k < 3; ++k) d[h][k] = x[m + 3 + 3 * h + k] - (0.0L + x[m + k]);
      r[h] = std::sqrt(dot(d[h], d[h]));
    }
    const auto push = [&](std::size_t h, std::size_t c, long double f) {
      forces[m + 3 + 3 * h + c] += f;
      forces[m + c] -= f;
    };
    for (std::size_t h = 0; h < 2; ++h) {
      const long double s = r[h] - model.pairs.r_oh, u = model.alpha * s, e = std::exp(-u);
      long double slope = 0;
      if (model.stretch == PlainStretch::harmonic) {
        energy += model.strength * s * s / 2;
        slope = model.strength * s;
      } else if (model.stretch == PlainStretch::quartic) {
        energy += model.strength * (u * u - u * u * u + 7 * u * u * u * u / 12);
        slope = model.strength * model.alpha * (2 * u - 3 * u * u + 7 * u * u * u / 3);
      } else {
        energy += model.strength * (1 - e) * (1 - e);
        slope = 2 * model.strength * model.alpha * e * (1 - e);
      }
      for (std::size_t k = 0; k < 3; ++k) push(h, k, -slope * d[h][k] / r[h]);
    }
    const long double cosine = dot(d[0], d[1]) / (r[0] * r[1]), angle = std::acos(cosine);
    const long double bend = angle - model.pairs.angle_degrees * std::acos(-1.0L) / 180.0L;
    energy += model.bend * bend * bend / 2;
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t k = 0; k < 3; ++k) {
        const long double of_cosine =
            d[1 - h][k] / (r[0] * r[1]) - cosine * d[h][k] / (r[h] * r[h]);
        push(h, k, model.bend * bend * of_cosine / std::sqrt(1 - cosine * cosine));
      }
    }
  }
  return energy;
}

}  // namespace tarn::test
