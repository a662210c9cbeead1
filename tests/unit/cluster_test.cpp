#include "tarn/analysis/cluster.hpp"

#include "plain_water.hpp"
#include "tarn/physics/measured.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using analysis::cluster_shape;

/// A molecule at x with one O-H along +x, the other along +y.
void add_molecule(std::vector<double>& positions, double x) {
  for (double c : {x, 0.0, 0.0, x + 1.0, 0.0, 0.0, x, 1.0, 0.0}) positions.push_back(c);
}

std::vector<double> molecules_at(const std::vector<double>& places) {
  std::vector<double> positions;
  for (const double x : places) add_molecule(positions, x);
  return positions;
}

TEST(ClusterShape, OfAChainFollowsFromItsSpacing) {
  const auto lone = cluster_shape(molecules_at({5.0}));
  EXPECT_EQ(lone.radius_of_gyration_A, 0.0);
  EXPECT_EQ(lone.hydrogen_bonds, 0);
  EXPECT_EQ(lone.farthest_neighbour_A, 0.0);
  const std::vector<double> positions = molecules_at({0.0, 3.0, 6.0, 20.0});
  const auto shape = cluster_shape(positions);
  // Oxygens at 0, 3, 6, 20 about 7.25: squares 52.5625, 18.0625, 1.5625, 162.5625.
  EXPECT_NEAR(shape.radius_of_gyration_A, std::sqrt(58.6875), 1e-14);
  EXPECT_EQ(shape.hydrogen_bonds, 2);  // 0 to 3 and 3 to 6; 14 A is too far
  EXPECT_DOUBLE_EQ(shape.farthest_neighbour_A, 14.0);
  const auto bonds = analysis::hydrogen_bonds(positions);
  ASSERT_EQ(bonds.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const analysis::HydrogenBond& bond = bonds[static_cast<std::size_t>(i)];
    EXPECT_EQ(bond.donor, i);
    EXPECT_EQ(bond.acceptor, i + 1);
    EXPECT_EQ(bond.hydrogen, 1) << "it lies on the line, the other one across";
  }
}

TEST(ClusterShape, TheAngleDecides) {
  for (const double degrees : {29.0, 31.0}) {
    const double a = degrees * units::pi / 180.0;
    std::vector<double> positions{0.0, 0.0, 0.0, std::cos(a), std::sin(a), 0.0, 0.0, -1.0, 0.0};
    add_molecule(positions, 3.0);
    EXPECT_EQ(cluster_shape(positions).hydrogen_bonds, degrees < 30.0 ? 1 : 0) << degrees;
  }
}

// --- departures ---

TEST(DepartedMolecule, IsTheFirstOutsideTheLargestPart) {
  struct Case {
    std::vector<double> places;
    std::optional<int> departed;
  };
  for (const Case& c : std::vector<Case>{{{}, std::nullopt},
                                         {{5.0}, std::nullopt},
                                         {{0.0, 7.9}, std::nullopt},
                                         {{0.0, 8.1}, 1},
                                         {{0.0, 14.0, 7.0, 21.0}, std::nullopt},  // a chain
                                         {{30.0, 0.0, 3.0, 6.0}, 0},
                                         {{0.0, 3.0, 30.0, 6.0}, 2},
                                         {{0.0, 30.0, 33.0, 3.0, 6.0}, 1},  // two left together
                                         {{0.0, 3.0, 30.0, 33.0, 36.0}, 0},
                                         {{0.0, 20.0, 40.0}, 1}}) {
    EXPECT_EQ(analysis::first_evaporated_molecule(molecules_at(c.places), 8.0), c.departed);
  }
}

// --- dipole moments ---

/// Charges times positions of all sites, the M sites where their definition puts them.
TEST(ClusterDipole, IsThatOfTheSites) {
  constexpr double kDebye = 4.80320471;
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    const test::PlainModel& plain = test::plain_model(model.name);
    std::vector<double> x = random_cluster(model, 5, 2, 0);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += 0.05 * std::sin(3.0 * k);  // stretched bonds
    const double half = model.angle_hoh_degrees * units::pi / 360.0;
    const double w = model.r_om_A / (2.0 * model.r_oh_A * std::cos(half));
    double sum[3] = {0, 0, 0}, lengths = 0.0;
    for (std::size_t m = 0; m < 5; ++m) {
      double square = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double o = x[9 * m + k], h1 = x[9 * m + 3 + k], h2 = x[9 * m + 6 + k];
        const double site = o + w * (h1 + h2 - 2.0 * o);
        const double moment =
            static_cast<double>(plain.q_o * o + plain.q_h * (h1 + h2) + plain.q_m * site);
        sum[k] += moment;
        square += moment * moment;
      }
      lengths += std::sqrt(square) / 5.0;
    }
    const auto dipole = analysis::cluster_dipole(x, model.dipole_charge_e());
    // Sums of some 15 charges at up to 10 A: 1e-16 * 150 e A.
    EXPECT_NEAR(dipole.cluster_D, std::hypot(sum[0], sum[1], sum[2]) * kDebye, 1e-13);
    EXPECT_NEAR(dipole.molecule_D, lengths * kDebye, 1e-13);
    // Far away: coordinates of 1e4 A have 1e-12 A, of 15 atoms and charges below 1 e.
    for (double& c : x) c += 1e4;
    EXPECT_NEAR(analysis::cluster_dipole(x, model.dipole_charge_e()).cluster_D, dipole.cluster_D,
                1e-10);
  }
}

/// TIP3P 2.35 D, TIP4P 2.18 D (Jorgensen et al. 1983); two that point apart have none together.
TEST(ClusterDipole, OfOneMoleculeAndOfTwoThatPointApart) {
  for (const auto& [name, debye] : {std::pair("tip3p", 2.35), std::pair("tip4p", 2.18)}) {
    const WaterModel model = *find_water_model(name);
    const std::vector<double> one = random_cluster(model, 1, 1, 0);
    const auto dipole = analysis::cluster_dipole(one, model.dipole_charge_e());
    EXPECT_NEAR(dipole.cluster_D, debye, 0.005) << name;
    EXPECT_EQ(dipole.molecule_D, dipole.cluster_D) << name;
    std::vector<double> two = one;
    for (const double c : one) two.push_back(-c);
    const auto pair = analysis::cluster_dipole(two, model.dipole_charge_e());
    EXPECT_EQ(pair.cluster_D, 0.0);
    EXPECT_DOUBLE_EQ(pair.molecule_D, dipole.molecule_D);
  }
}

// --- Lindemann index ---

TEST(LindemannIndex, OfDistancesThatAlternate) {
  analysis::LindemannIndex index;
  EXPECT_TRUE(std::isnan(index.value()));
  for (const double r : {2.5, 3.5, 2.5, 3.5}) {
    // The third is 10 A above the first: only the two pairs of the second molecule change.
    index.add(molecules_at({0.0, r, -10.0}));
    EXPECT_EQ(std::isnan(index.value()), index.memory().samples == 1);
  }
  // Standard deviation 0.5 about 3 and about 13, and none about 10.
  EXPECT_NEAR(index.value(), (0.5 / 3.0 + 0.5 / 13.0) / 3.0, 1e-15);
}

TEST(LindemannIndex, OfARigidBodyThatMovesIsZero) {
  const std::vector<double> start = random_cluster(kWaterModels[0], 6, 1, 0);
  analysis::LindemannIndex index;
  for (int t = 0; t < 50; ++t) {
    const double a = 0.3 * t;
    std::vector<double> x = start;
    for (std::size_t k = 0; k < x.size(); k += 3) {
      x[k] = std::cos(a) * start[k] - std::sin(a) * start[k + 1] + t;
      x[k + 1] = std::sin(a) * start[k] + std::cos(a) * start[k + 1];
    }
    index.add(x);
  }
  // Coordinates of some 50 A are rounded to 1e-14 A, distances are above 2.6 A.
  EXPECT_LT(index.value(), 1e-14);
}

TEST(LindemannIndex, IsTheFormulaOverAllSamplesAndSurvivesARestore) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> samples;
  for (int t = 0; t < 40; ++t) {
    samples.emplace_back();
    for (int m = 0; m < 5; ++m) add_molecule(samples.back(), 3.0 * m + 0.3 * normal(random));
  }
  double expected = 0.0;
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double mean = 0.0, square = 0.0;
      for (const auto& x : samples) mean += std::abs(x[9 * a] - x[9 * b]) / 40.0;
      for (const auto& x : samples) {
        square += std::pow(std::abs(x[9 * a] - x[9 * b]) - mean, 2) / 40.0;
      }
      expected += std::sqrt(square) / mean / 10.0;
    }
  }
  analysis::LindemannIndex whole, first, second;
  for (std::size_t t = 0; t < 40; ++t) {
    whole.add(samples[t]);
    (t < 17 ? first : second).add(samples[t]);
    if (t == 16) second.restore(first.memory());
  }
  EXPECT_NEAR(whole.value(), expected, test::few_roundings());
  EXPECT_EQ(second.value(), whole.value());
  EXPECT_GT(whole.value(), 0.01);
}

/// The lowest trimer is a ring with three bonds, the dimer has one.
TEST(ClusterShape, OfKnownMinima) {
  for (const auto& [molecules, bonds] : {std::pair{2, 1}, {3, 3}}) {
    const auto lowest = lowest_cluster(kWaterModels[0], molecules, 1, {.starts = 4});
    EXPECT_EQ(cluster_shape(lowest.positions_A).hydrogen_bonds, bonds);
  }
}

// --- extremes ---

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(ClosestAtoms, AreOfDifferentMolecules) {
  std::vector<double> x = molecules_at({0.0, 10.0, 20.0});
  x[2 * 9 + 3] = 10.0;  // H1 of the last one to the second one, 2 A above its H2
  x[2 * 9 + 4] = 3.0;
  EXPECT_EQ(closest_atoms(x), (ClosestAtoms{{1, 2}, {2, 1}, 2.0}));
}

TEST(ClosestAtoms, OfOneMoleculeAreItsOwn) {
  std::vector<double> x = molecules_at({0.0});
  x[7] = 0.5;
  EXPECT_EQ(closest_atoms(x), (ClosestAtoms{{0, 0}, {0, 2}, 0.5}));
}

TEST(ClosestAtoms, IgnoresNan) {
  std::vector<double> x = molecules_at({0.0, 10.0, 20.0});
  for (int c = 9; c < 18; ++c) x[static_cast<std::size_t>(c)] = kNaN;
  EXPECT_EQ(closest_atoms(x).a.molecule, 0);
  EXPECT_EQ(closest_atoms(x).b.molecule, 2);
  EXPECT_EQ(closest_atoms(x).distance_A, 19.0);
  for (double& c : x) c = kNaN;
  EXPECT_EQ(closest_atoms(x).a.molecule, -1);
}

TEST(LargestForce, IsALengthAndTheFirstOfEquals) {
  std::vector<double> f(18, 0.0);
  f[4] = -3.0;
  f[5] = 4.0;
  f[17] = 5.0;
  EXPECT_EQ(largest_force(f), (LargestForce{{0, 1}, 5.0}));
  f[17] = 5.5;
  EXPECT_EQ(largest_force(f), (LargestForce{{1, 2}, 5.5}));
  EXPECT_EQ(largest_force(std::vector<double>(9, 0.0)), (LargestForce{{0, 0}, 0.0}));
}

TEST(LargestForce, NanIsLargest) {
  std::vector<double> f(18, 1e300);
  f[12] = kNaN;
  EXPECT_EQ(largest_force(f), (LargestForce{{1, 1}, std::numeric_limits<double>::infinity()}));
}

}  // namespace
}  // namespace tarn
