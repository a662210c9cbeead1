#include "tarn/analysis/cluster.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tarn/start.hpp"

namespace tarn {
namespace {

using analysis::cluster_shape;

/// A molecule at x with one O-H along +x, the other along +y.
void add_molecule(std::vector<double>& positions, double x) {
  for (double c : {x, 0.0, 0.0, x + 1.0, 0.0, 0.0, x, 1.0, 0.0}) positions.push_back(c);
}

TEST(ClusterShape, OfOneMoleculeIsNothing) {
  std::vector<double> positions;
  add_molecule(positions, 5.0);
  const auto shape = cluster_shape(positions);
  EXPECT_EQ(shape.radius_of_gyration_A, 0.0);
  EXPECT_EQ(shape.hydrogen_bonds, 0);
  EXPECT_EQ(shape.farthest_neighbour_A, 0.0);
}

TEST(ClusterShape, OfAChainFollowsFromItsSpacing) {
  std::vector<double> positions;
  for (double x : {0.0, 3.0, 6.0, 20.0}) add_molecule(positions, x);
  const auto shape = cluster_shape(positions);
  // Oxygens at 0, 3, 6, 20 about 7.25: squares 52.5625, 18.0625, 1.5625, 162.5625.
  EXPECT_NEAR(shape.radius_of_gyration_A, std::sqrt(58.6875), 1e-14);
  EXPECT_EQ(shape.hydrogen_bonds, 2);  // 0 to 3 and 3 to 6; 14 A is too far
  EXPECT_DOUBLE_EQ(shape.farthest_neighbour_A, 14.0);
}

TEST(ClusterShape, TheAngleDecides) {
  for (const double degrees : {29.0, 31.0}) {
    const double a = degrees * units::pi / 180.0;
    std::vector<double> positions{0.0, 0.0, 0.0, std::cos(a), std::sin(a), 0.0, 0.0, -1.0, 0.0};
    add_molecule(positions, 3.0);
    EXPECT_EQ(cluster_shape(positions).hydrogen_bonds, degrees < 30.0 ? 1 : 0) << degrees;
  }
}

/// The lowest trimer is a ring with three bonds, the dimer has one.
TEST(ClusterShape, OfKnownMinima) {
  EXPECT_EQ(cluster_shape(lowest_cluster(kWaterModels[0], 2, 1, 4).positions_A).hydrogen_bonds, 1);
  EXPECT_EQ(cluster_shape(lowest_cluster(kWaterModels[0], 3, 1, 4).positions_A).hydrogen_bonds, 3);
}

}  // namespace
}  // namespace tarn
