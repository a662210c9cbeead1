#include "tarn/many_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "many_body/formulas.hpp"
#include "many_body/kernels.hpp"
#include "tarn/core/error.hpp"

/// @file
/// MB-pol and Dang-Chang water against published minima, independent programs and laws.

namespace tarn {
namespace {

/// A cluster of tests/data/many_body with its numbers.
struct Entry {
  std::string name;
  int molecules;
  std::array<double, 7> terms;  // and the total
  std::vector<double> x, forces;
};
std::vector<double> numbers(std::istream& in, std::size_t count) {
  std::vector<double> all(count);
  for (double& value : all) in >> value;
  return all;
}
std::vector<Entry> entries(const std::string& file) {
  std::ifstream in(TARN_SOURCE_DIR "/tests/data/many_body/" + file);
  std::string line, text;
  while (std::getline(in, line)) text += line.starts_with('#') ? "" : line + '\n';
  std::istringstream words(text);
  std::vector<Entry> all;
  Entry e;
  for (bool has_forces = false; words >> e.name >> e.molecules >> has_forces; all.push_back(e)) {
    const auto size = static_cast<std::size_t>(9 * e.molecules);
    std::ranges::copy(numbers(words, e.terms.size()), e.terms.begin());
    e.x = numbers(words, size);
    e.forces = numbers(words, has_forces ? size : 0);
  }
  EXPECT_FALSE(all.empty()) << file;
  return all;
}
Entry entry(const std::string& name) {
  for (Entry& e : entries("reference.txt")) {
    if (e.name == name) return e;
  }
  throw InputError("no entry " + name);
}

struct Result {
  double energy = 0.0;
  std::array<double, 6> terms{};
  std::vector<double> forces;
  std::array<double, 3> dipole{};
  ImageFailure failure{};
  friend bool operator==(const Result&, const Result&) = default;
};
std::vector<Result> compute(ManyBody& model, int molecules, const std::vector<double>& x) {
  const std::size_t terms = model.terms().size();
  const auto size = static_cast<std::size_t>(9 * molecules), images = x.size() / size;
  std::vector<double> energies(images), all_terms(terms * images), forces(x.size()),
      dipoles(3 * images);
  std::vector<ImageFailure> failures(images);
  model.compute(molecules, x, {energies, all_terms, forces, dipoles, failures});
  std::vector<Result> results(images);
  for (std::size_t k = 0; k < images; ++k) {
    Result& r = results[k];
    r.energy = energies[k];
    std::copy_n(&all_terms[terms * k], terms, r.terms.begin());
    r.forces.assign(&forces[size * k], &forces[size * k] + size);
    std::copy_n(&dipoles[3 * k], 3, r.dipole.begin());
    r.failure = failures[k];
  }
  return results;
}
Result compute_one(ManyBody& model, const std::vector<double>& x) {
  return compute(model, static_cast<int>(x.size() / 9), x).front();
}
double largest(const std::vector<double>& v) {
  double most = 0.0;
  for (const double value : v) most = std::max(most, std::abs(value));
  return most;
}
std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] -= b[k];
  return a;
}
std::vector<std::string> instruction_sets() {
  std::vector<std::string> names{"portable"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    names.push_back("avx512");
  }
  std::erase_if(names, [](auto& name) { return many_body::kernels_named(name) == nullptr; });
  return names;
}

// --- numbers -------------------------------------------------------------------------------------

/// The terms of published minima are listed with eight decimals for positions with nine. Their
/// forces are zero to the digits of the positions.
TEST(MbPol, HasTheReferenceNumbers) {
  for (const std::string& name : instruction_sets()) {
    ManyBody model(ManyBodyModel::mbpol, false, 1, name);
    for (const Entry& e : entries("reference.txt")) {
      SCOPED_TRACE(name + " " + e.name);
      const Result r = compute_one(model, e.x);
      EXPECT_EQ(r.failure, ImageFailure::none);
      EXPECT_NEAR(r.energy, e.terms[6], 1e-8);
      for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(r.terms[k], e.terms[k], e.forces.empty() ? 1e-7 : 1e-8) << k;
      }
      if (e.forces.empty()) {
        EXPECT_LT(largest(r.forces), 1e-5);
      } else {
        EXPECT_LT(largest(difference(r.forces, e.forces)), 1e-7);
      }
    }
  }
}

/// Monomials after the change of variables, of which 12 725 and 33 525 were in the original ones.
TEST(MbPol, HasSmallTables) {
  const auto check = [](const many_body::PolynomialTable& t, std::ptrdiff_t monomials) {
    const auto zeros = std::ranges::count(t.coefficients, 0.0);
    EXPECT_EQ(std::ssize(t.coefficients) - zeros, monomials);
    EXPECT_LT(zeros, std::ssize(t.coefficients) / 8);
    EXPECT_LE(1 + t.variables.size() + t.products.size(), many_body::kMostFactors);
  };
  check(many_body::two_body_table(), 2243);
  check(many_body::three_body_table(), 7425);
}

/// plain_sum.py adds all terms of a cluster of nine, of a dimer beyond 6.5 A, of a trimer whose
/// three-body term is switched off, and of one with r_OO < 2 A, whose polynomials are left out.
TEST(MbPol, EqualsAPlainSum) {
  ManyBody model(ManyBodyModel::mbpol);
  for (const Entry& e : entries("sums.txt")) {
    SCOPED_TRACE(e.name);
    const Result r = compute_one(model, e.x);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(r.terms[k], e.terms[k], 2e-8) << k;
    EXPECT_EQ(r.failure,
              e.name.starts_with("close") ? ImageFailure::too_close : ImageFailure::none);
    EXPECT_EQ(std::isnan(r.energy), e.name.starts_with("close"));
  }
}

/// Terms of up to 800 kcal/mol in modulus, 7 400 of them rounded to 24 bits: some 1e-6.
TEST(MbPol, MixedPrecisionRoundsTheThreeBodyTermOnly) {
  ManyBody exact(ManyBodyModel::mbpol), mixed(ManyBodyModel::mbpol, true);
  double error = 0.0;
  for (const Entry& e : entries("reference.txt")) {
    const Result r = compute_one(exact, e.x), s = compute_one(mixed, e.x);
    for (const std::size_t k : {0u, 1u, 3u, 4u, 5u}) EXPECT_EQ(r.terms[k], s.terms[k]);
    EXPECT_NEAR(r.energy, s.energy, 1e-5);
    EXPECT_LT(largest(difference(r.forces, s.forces)), 3e-5);
    error = std::max(error, std::abs(r.energy - s.energy));
  }
  EXPECT_GT(error, 1e-8);
}

/// The forces of minima have the digits of the positions, times force constants of 1000.
TEST(DangChang, HasThePublishedMinima) {
  ManyBody model(ManyBodyModel::dang_chang);
  const std::array expected{-4.688987,  -13.335278, -23.948441, -31.801034,
                            -41.004895, -40.855005, -51.426547, -65.213069};
  const std::vector<Entry> all = entries("dang_chang.txt");
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    SCOPED_TRACE(all[k].name);
    const Result r = compute(model, all[k].molecules, all[k].x).front();
    EXPECT_NEAR(r.energy, expected[k], 1e-6);
    EXPECT_NEAR(r.energy, r.terms[0] + r.terms[1] + r.terms[2], 1e-12);
    for (std::size_t m = 0; m < r.forces.size(); m += 9) {
      for (std::size_t d = 0; d < 3; ++d) {  // forces and torques on rigid molecules vanish
        const auto f = [&](std::size_t atom, std::size_t axis) {
          return r.forces[m + 3 * atom + axis % 3];
        };
        const auto x = [&](std::size_t atom, std::size_t axis) {
          return all[k].x[m + 3 * atom + axis % 3] - all[k].x[m + axis % 3];
        };
        EXPECT_NEAR(f(0, d) + f(1, d) + f(2, d), 0.0, 1e-5);
        double torque = 0.0;
        for (const std::size_t atom : {1u, 2u}) {
          torque += x(atom, d + 1) * f(atom, d + 2) - x(atom, d + 2) * f(atom, d + 1);
        }
        EXPECT_NEAR(torque, 0.0, 1e-5);
      }
    }
  }
}

/// mpmath, gammainc(3/4, v^4).
TEST(IncompleteGamma, HasTheNumbersOfMpmath) {
  constexpr std::array<std::array<double, 2>, 8> rows{{{0.0, 1.2254167024651776451},
                                                       {0.1, 1.2240834262728833173},
                                                       {0.5, 1.0631268828806288659},
                                                       {0.9, 0.477755897665161964},
                                                       {1.3, 0.041373325662560219221},
                                                       {1.7, 0.00013510989914409560019},
                                                       {2.1, 1.6837840423202597105e-9},
                                                       {2.5, 4.312490134416935162e-18}}};
  for (const auto& [v, value] : rows) {
    EXPECT_NEAR(std::exp(-std::pow(v, 4)) * scaled_incomplete_gamma(v), value, 1e-13) << v;
  }
}

/// Against the library, relative to the result.
TEST(ManyBodyFormulas, ElementaryFunctionsHaveFullPrecision) {
  for (double x = -20.0; x < 20.0; x += 0.0137) {
    EXPECT_NEAR(exponential(x) / std::exp(x), 1.0, 6e-16) << x;
  }
  for (double x = 0.5; x <= 2.0; x += 0.0137) EXPECT_NEAR(log_near_one(x), std::log(x), 4e-16) << x;
  for (const double r : {4.0, 4.5, 5.0, 5.5, 6.3, 6.5, 7.0}) {
    const double angle = 3.14159265358979323846 * std::clamp((r - 4.5) / 2, 0.0, 1.0);
    EXPECT_NEAR(switch_off(r, 4.5, 6.5).value, (1 + std::cos(angle)) / 2, 4e-16);
    EXPECT_NEAR(switch_off(r, 4.5, 6.5).derivative, -std::sin(angle) * std::acos(-1.0) / 4, 4e-16);
  }
}

// --- laws ----------------------------------------------------------------------------------------

/// Differences of fourth order with h = 1e-3 A: truncation below 1e-6 for force constants of 1e3
/// whose scale is 0.3 A, rounding of 1e-12/h.
TEST(ManyBody, ForcesAreTheGradient) {
  for (const auto kind : {ManyBodyModel::mbpol, ManyBodyModel::dang_chang}) {
    ManyBody model(kind);
    for (const char* const name : {"hexamer-distorted", "trimer-in-the-three-body-switch",
                                   "dimer-in-the-two-body-switch", "dimer-close"}) {
      SCOPED_TRACE(name);
      const Entry e = entry(name);
      const std::vector<double> forces = compute(model, e.molecules, e.x).front().forces;
      constexpr std::array steps{-2, -1, 1, 2};
      std::vector<double> images;
      for (std::size_t k = 0; k < e.x.size(); ++k) {
        for (const int step : steps) {
          images.insert(images.end(), e.x.begin(), e.x.end());
          images[images.size() - e.x.size() + k] += 1e-3 * step;
        }
      }
      const std::vector<Result> r = compute(model, e.molecules, images);
      for (std::size_t k = 0; k < e.x.size(); ++k) {
        const Result* const at = &r[4 * k];
        const double slope =
            (at[0].energy - 8 * at[1].energy + 8 * at[2].energy - at[3].energy) / 12e-3;
        EXPECT_NEAR(-slope, forces[k], 1e-5) << k;
      }
    }
  }
}

/// Permutations of like atoms and molecules and rotations change the energy by rounding, the forces
/// and the dipole as vectors. The rounding of forces of 300 is amplified by terms of 1e4.
TEST(ManyBody, IsInvariantUnderPermutationsAndRotations) {
  std::mt19937 random(5);
  for (const auto kind : {ManyBodyModel::mbpol, ManyBodyModel::dang_chang}) {
    ManyBody model(kind);
    const Entry e = entry("pentamer-distorted");
    const Result before = compute(model, 5, e.x).front();
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::array<std::size_t, 5> order{0, 1, 2, 3, 4};
      std::ranges::shuffle(order, random);
      std::vector<std::size_t> source;  // of each number, before the rotation
      for (const std::size_t m : order) {
        const std::size_t first = 1 + random() % 2;
        for (const std::size_t atom : {std::size_t{0}, first, 3 - first}) {
          for (std::size_t d = 0; d < 3; ++d) source.push_back(9 * m + 3 * atom + d);
        }
      }
      const double angle = 0.3 + repeat, c = std::cos(angle), s = std::sin(angle);
      const auto turned = [&](const std::vector<double>& v) {
        std::vector<double> out(v.size());
        for (std::size_t k = 0; k < v.size(); k += 3) {
          const double a = v[source[k]], b = v[source[k + 1]];
          out[k] = c * a - s * b;
          out[k + 1] = s * a + c * b;
          out[k + 2] = v[source[k + 2]];
        }
        return out;
      };
      const Result after = compute(model, 5, turned(e.x)).front();
      EXPECT_NEAR(after.energy, before.energy, 1e-9);
      EXPECT_LT(largest(difference(after.forces, turned(before.forces))), 1e-8);
      EXPECT_NEAR(after.dipole[0], c * before.dipole[0] - s * before.dipole[1], 1e-12);
      EXPECT_NEAR(after.dipole[2], before.dipole[2], 1e-12);
    }
  }
}

/// An image has the same bits alone, in any batch, at any place of it and with any number of
/// threads, whatever the other images are.
TEST(ManyBody, BitsDoNotDependOnTheBatchOrThreads) {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> shift(-0.1, 0.1);
  const Entry e = entry("hexamer-distorted");
  std::vector<double> x;
  for (int image = 0; image < 21; ++image) {
    for (std::size_t k = 0; k < e.x.size(); ++k) {
      x.push_back(image == 5 ? 0.0 : e.x[k] * (image == 7 ? 1.6 : 1.0) + shift(random));
    }
  }
  for (const auto kind : {ManyBodyModel::mbpol, ManyBodyModel::dang_chang}) {
    for (const std::string& name : instruction_sets()) {
      for (const bool mixed : {false, true}) {
        SCOPED_TRACE(name);
        ManyBody one(kind, mixed, 1, name), three(kind, mixed, 3, name);
        const std::vector<Result> all = compute(one, 6, x), again = compute(three, 6, x);
        for (std::size_t k = 0; k < all.size(); ++k) {
          const std::vector<double> image(&x[54 * k], &x[54 * k] + 54);
          for (Result r : {again[k], compute_one(one, image), compute_one(three, image)}) {
            if (all[k].failure != ImageFailure::none) {
              EXPECT_EQ(r.failure, all[k].failure);
            } else {
              EXPECT_EQ(r, all[k]) << k;
            }
          }
        }
      }
    }
  }
}

TEST(ManyBody, ReportsWhyAnImageHasNoEnergy) {
  ManyBody mbpol(ManyBodyModel::mbpol), dang_chang(ManyBodyModel::dang_chang);
  std::vector<double> x = entry("dimer").x;
  x[0] += 2.0;
  Result r = compute_one(mbpol, x);
  EXPECT_EQ(r.failure, ImageFailure::broken_molecule);
  EXPECT_TRUE(std::isnan(r.energy));
  x[0] = std::nan("");
  EXPECT_EQ(compute_one(mbpol, x).failure, ImageFailure::polarisation);
  // Two M sites closer than (2 alpha)^(1/3) = 1.424 A: on the same O, and 1.5 A along an axis.
  const std::vector<double> molecule{0, 0, 0, 0.75695, 0.58588, 0, -0.75695, 0.58588, 0};
  for (const double distance : {1.3, 1.42, 1.43, 1.6}) {
    x = molecule;
    for (std::size_t k = 0; k < 9; ++k) x.push_back(molecule[k] + (k % 3 == 2 ? distance : 0.0));
    r = compute(dang_chang, 2, x).front();
    EXPECT_EQ(r.failure, distance < 1.424 ? ImageFailure::polarisation : ImageFailure::none);
    EXPECT_EQ(std::isnan(r.energy), distance < 1.424);
  }
  EXPECT_THROW(mbpol.compute(2, molecule, {}), InputError);
}

TEST(ManyBody, IsAPotentialWithDetails) {
  const Entry e = entry("trimer-distorted");
  for (const bool mixed : {false, true}) {
    const auto potential = many_body_potential(ManyBodyModel::mbpol, mixed, 2);
    EXPECT_EQ(potential->name(), mixed ? "mbpol mixed" : "mbpol");
    std::vector<double> energies(2), forces(2 * e.x.size()), x = e.x;
    x.insert(x.end(), e.x.begin(), e.x.end());
    potential->compute(x, std::array<std::int64_t, 2>{3, 1}, energies, forces);
    EXPECT_NEAR(energies[1], e.terms[6], 1e-5);
    EXPECT_NEAR(forces.back(), e.forces.back(), 1e-4);
    const PotentialDetails details = potential->details();
    EXPECT_NEAR(details.bond_energies_kcal_per_mol[1], e.terms[0], 1e-8);
    EXPECT_EQ(details.dipoles_e_A.size(), 6u);
    EXPECT_EQ(details.failures[1], ImageFailure::none);
  }
}

}  // namespace
}  // namespace tarn
