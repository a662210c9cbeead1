#include <ostream>

#include <Eigen/Dense>

#include "csv_reader.hpp"
#include "full_product.hpp"
#include "io/xyz.hpp"
#include "plain_water.hpp"
#include "tarn/force_field.hpp"
#include "tarn/minimise.hpp"
#include "tarn/modes.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

/// @file
/// The lowest minima known of small rigid clusters: found from any seed, and minima by the
/// judgement of a program that shares nothing with tarn.

namespace tarn {
namespace {

using Real = long double;
using Vector3 = Eigen::Matrix<Real, 3, 1>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

const std::string kData = std::string(TARN_SOURCE_DIR) + "/tests/data/minima/";
const std::vector<std::string> kModels{"tip3p",   "spc",       "spce",     "bf",  "tips2", "tip4p",
                                       "tip4pew", "tip4p2005", "tip4pice", "opc", "opc3"};

struct Minimum {
  std::string model;
  int molecules = 0;
  double energy_kcal_per_mol = 0.0;

  friend std::ostream& operator<<(std::ostream& out, const Minimum& m) {
    return out << m.model << " " << m.molecules;
  }
};

std::vector<Minimum> recorded_minima() {
  test::CsvReader csv(kData + "minima.csv");
  std::vector<Minimum> minima;
  std::vector<std::string_view> cells;
  while (csv.next(cells)) {
    minima.push_back(
        {std::string(cells[0]), static_cast<int>(csv.number(cells[1])), csv.number(cells[2])});
  }
  return minima;
}

double recorded_energy(const std::string& model, int molecules) {
  for (const Minimum& m : recorded_minima()) {
    if (m.model == model && m.molecules == molecules) return m.energy_kcal_per_mol;
  }
  ADD_FAILURE() << "no minimum is recorded of " << model << " " << molecules;
  return 0.0;
}

// --- rigid motions of single molecules, in long double and without tarn ---

/// x with molecule m shifted by the first three of its six numbers and turned about its oxygen by
/// the rotation vector of the other three.
std::vector<Real> moved(const std::vector<Real>& x, const Vector& motion) {
  std::vector<Real> result = x;
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    const auto at = static_cast<Eigen::Index>(6 * m);
    const Vector3 shift = motion.segment<3>(at), turn = motion.segment<3>(at + 3);
    const Real angle = turn.norm();
    const Vector3 origin(x[9 * m], x[9 * m + 1], x[9 * m + 2]);
    for (std::size_t atom = 0; atom < 3; ++atom) {
      const std::size_t a = 9 * m + 3 * atom;
      Vector3 d = Vector3(x[a], x[a + 1], x[a + 2]) - origin;
      if (angle > 0) d = Eigen::AngleAxis<Real>(angle, turn / angle) * d;
      const Vector3 place = origin + shift + d;
      for (std::size_t k = 0; k < 3; ++k) result[a + k] = place[static_cast<Eigen::Index>(k)];
    }
  }
  return result;
}

/// Force and torque about the oxygen of every molecule.
Vector forces_and_torques(const test::PlainModel& model, const std::vector<Real>& x) {
  const std::vector<Real> f = test::plain_energy(model, x).forces;
  Vector result = Vector::Zero(static_cast<Eigen::Index>(x.size() / 9 * 6));
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    const auto at = static_cast<Eigen::Index>(6 * m);
    const Vector3 origin(x[9 * m], x[9 * m + 1], x[9 * m + 2]);
    for (std::size_t a = 9 * m; a < 9 * m + 9; a += 3) {
      const Vector3 force(f[a], f[a + 1], f[a + 2]);
      const Vector3 arm = Vector3(x[a], x[a + 1], x[a + 2]) - origin;
      result.segment<3>(at) += force;
      result.segment<3>(at + 3) += arm.cross(force);
    }
  }
  return result;
}

/// Second derivatives of the energy along the motions, by central differences.
Matrix hessian(const test::PlainModel& model, const std::vector<Real>& x, Real h) {
  const auto size = static_cast<Eigen::Index>(x.size() / 9 * 6);
  const auto energy = [&](Eigen::Index i, Real a, Eigen::Index j, Real b) {
    Vector motion = Vector::Zero(size);
    motion[i] += a;
    motion[j] += b;
    return test::plain_energy(model, moved(x, motion)).total();
  };
  Matrix result(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      result(i, j) =
          (energy(i, h, j, h) - energy(i, h, j, -h) - energy(i, -h, j, h) + energy(i, -h, j, -h)) /
          (4 * h * h);
      result(j, i) = result(i, j);
    }
  }
  return result;
}

/// Energy as recorded, no force, no direction downwards.
void expect_minimum(const std::string& name, const std::vector<double>& positions_A,
                    double energy_kcal_per_mol) {
  const test::PlainModel& model = test::plain_model(name);
  const std::vector<Real> x(positions_A.begin(), positions_A.end());
  // Recorded to 1e-6.
  EXPECT_NEAR(static_cast<double>(test::plain_energy(model, x).total()), energy_kcal_per_mol, 1e-6);
  // Quenched to 1e-6 kcal/mol/A.
  EXPECT_LT(static_cast<double>(forces_and_torques(model, x).lpNorm<Eigen::Infinity>()), 2e-6);
  // The differences are off by h^2/6 V'''' (below 1e5: some 1e-4 at h = 1e-4 A) and by rounding,
  // 1e-19 * 1e3 / h^2 = 1e-8. Six motions of the whole cost nothing; each other one is held by at
  // least part of a hydrogen bond: the softest, of three molecules of TIP4P-Ew, by 0.07
  // kcal/mol/A^2.
  const Vector eigenvalues =
      Eigen::SelfAdjointEigenSolver<Matrix>(hessian(model, x, 1e-4L)).eigenvalues();
  for (Eigen::Index k = 0; k < eigenvalues.size(); ++k) {
    const auto value = static_cast<double>(eigenvalues[k]);
    if (k < 6) {
      EXPECT_NEAR(value, 0.0, 1e-4) << k;
    } else {
      EXPECT_GT(value, 0.05) << k;
    }
  }
}

// --- minima ---

class LowestMinimum : public ::testing::TestWithParam<Minimum> {};

TEST_P(LowestMinimum, IsFoundFromEverySeed) {
  const Minimum expected = GetParam();
  // Larger clusters of every model would take most of the time of all tests.
  const bool is_quick = expected.model == "tip3p" || expected.molecules <= 4;
  const std::uint64_t seeds = is_quick && test::covers_everything() ? 3 : 1;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const LowestCluster found =
        lowest_cluster(*find_water_model(expected.model), expected.molecules, seed);
    // Six digits are given; a quench to 1e-6 kcal/mol/A is off by 1e-11.
    EXPECT_NEAR(found.energy_kcal_per_mol, expected.energy_kcal_per_mol, 1e-6) << seed;
    // Enough starts for any seed. The worst case is BF with N = 7, where 17 % of 600 starts hit:
    // all of 96 miss once in 6e7 searches.
    EXPECT_GE(found.starts_that_hit, default_starts(expected.molecules) / 10) << seed;
    const NormalModes modes = normal_modes(*find_water_model(expected.model), found.positions_A);
    EXPECT_EQ(modes.imaginary_count(), 0);
    // Quenched to 1e-6 about the oxygens.
    EXPECT_LT(modes.max_gradient_kcal_per_mol_A, 2e-6);
    if (seed == 1 && expected.molecules <= 4) {
      expect_minimum(expected.model, found.positions_A, expected.energy_kcal_per_mol);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, LowestMinimum, ::testing::ValuesIn(recorded_minima()));

/// Larger clusters of TIP4P, which hops through chains of hydrogen bonds find. Of 64 searches of
/// 380 hops 31 found that of twelve, the hardest of these: all of 12 miss once in 2000 seeds. Lower
/// ones would be news.
TEST(LowestMinimum, OfLargerClustersIsFound) {
  struct Known {
    int molecules;
    double energy_kcal_per_mol;
  };
  const WaterModel model = *find_water_model("tip4p");
  for (const Known known : {Known{9, -82.322124}, Known{10, -93.456817}, Known{12, -117.808102}}) {
    const LowestCluster found =
        lowest_cluster(model, known.molecules, 1, {.starts = 12, .hops = 400});
    EXPECT_NEAR(found.energy_kcal_per_mol, known.energy_kcal_per_mol, test::kSixDecimals)
        << known.molecules;
    EXPECT_EQ(normal_modes(model, found.positions_A).imaginary_count(), 0);
  }
}

/// TIP3P of an independent program. Of the others, the dimers as the literature prints them: TIP4P
/// -6.24, SPC -6.61, SPC/E -7.2 kcal/mol.
TEST(Minima, MatchPublishedMinima) {
  const std::map<int, double> tip3p{
      {2, -6.539941}, {3, -17.440225}, {4, -29.293266}, {6, -47.789912}, {7, -57.918723}};
  for (const auto& [molecules, energy] : tip3p) {
    EXPECT_NEAR(recorded_energy("tip3p", molecules), energy, 1e-9) << molecules;
  }
  EXPECT_NEAR(recorded_energy("tip4p", 2), -6.24, 0.005);
  EXPECT_NEAR(recorded_energy("spc", 2), -6.61, 0.005);
  EXPECT_NEAR(recorded_energy("spce", 2), -7.2, 0.05);
}

TEST(Minima, DimersOnFileAreMinimaAndAreFoundAgain) {
  for (const std::string& name : kModels) {
    SCOPED_TRACE(name);
    const double energy = recorded_energy(name, 2);
    const io::Structure dimer = io::read_structure(kData + name + "-2.xyz");
    ASSERT_EQ(dimer.model(), name);
    expect_minimum(name, dimer.positions_A, energy);

    // Moved by some 0.1 A and 0.1 rad it goes back.
    const std::vector<Real> x(dimer.positions_A.begin(), dimer.positions_A.end());
    Vector motion(12);
    for (Eigen::Index k = 0; k < 12; ++k) motion[k] = 0.1L * std::sin(1.0L + 2.0L * k);
    const std::vector<Real> away = moved(x, motion);
    std::vector<double> positions(away.begin(), away.end());
    ForceField force_field(*find_water_model(name), 2);
    EXPECT_GT(force_field.energy(positions).total_kcal_per_mol(), energy + 0.01);
    const MinimiseResult result = quench(force_field, positions);
    EXPECT_TRUE(result.converged);
    EXPECT_NEAR(result.energy_kcal_per_mol, energy, test::kSixDecimals);
    expect_minimum(name, positions, energy);
  }
}

/// What expect_minimum() rests on: it sees forces and directions downwards where there are some.
TEST(Minima, AStretchedDimerIsNone) {
  const io::Structure dimer = io::read_structure(kData + "tip3p-2.xyz");
  std::vector<Real> x(dimer.positions_A.begin(), dimer.positions_A.end());
  // Pulled apart by 1 A the dimer is beyond the inflection of its bond.
  Vector motion = Vector::Zero(12);
  const Vector3 along = Vector3(x[9] - x[0], x[10] - x[1], x[11] - x[2]).normalized();
  motion.segment<3>(6) = along;
  x = moved(x, motion);
  const test::PlainModel& model = test::plain_model("tip3p");
  EXPECT_GT(static_cast<double>(forces_and_torques(model, x).norm()), 0.1);
  EXPECT_LT(static_cast<double>(
                Eigen::SelfAdjointEigenSolver<Matrix>(hessian(model, x, 1e-4L)).eigenvalues()[0]),
            -0.1);
}

}  // namespace
}  // namespace tarn
