#include "analysis/symmetry.hpp"

#include "io/xyz.hpp"
#include "testing.hpp"

namespace tarn::analysis {
namespace {

/// Atoms O, H, H of a molecule in the plane y z.
const std::vector<double> kWater{0, 0, 0, 0, 0.76, 0.59, 0, -0.76, 0.59};

/// n copies of a molecule, rotated about z.
std::vector<double> ring(int n, const std::vector<double>& molecule) {
  std::vector<double> positions;
  for (int i = 0; i < n; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / n;
    const double c = std::cos(angle), s = std::sin(angle);
    for (std::size_t k = 0; k < 9; k += 3) {
      const double x = molecule[k] + 3.0, y = molecule[k + 1], z = molecule[k + 2];
      positions.insert(positions.end(), {c * x - s * y, s * x + c * y, z});
    }
  }
  return positions;
}

TEST(SymmetryOrder, OfOneMolecule) {
  EXPECT_EQ(symmetry_order(kWater), 4);  // C2v
  std::vector<double> skew = kWater;
  skew[4] += 0.1;
  EXPECT_EQ(symmetry_order(skew), 2);  // Cs: the plane of the molecule
}

TEST(SymmetryOrder, OfRings) {
  // Molecules upright in the planes of the axis and themselves: Cnv; twisted: Cn.
  const std::vector<double> upright{0, 0, 0, 0.76, 0, 0.59, -0.76, 0, 0.59};
  const std::vector<double> flat{0, 0, 0, 0.7, 0.3, 0, -0.2, 0.9, 0};
  const std::vector<double> twisted{0, 0, 0, 0.7, 0.3, 0.1, -0.2, 0.8, 0.5};
  for (const int n : {2, 3, 4, 5, 8}) {
    EXPECT_EQ(symmetry_order(ring(n, upright)), 2 * n);  // Cnv
    EXPECT_EQ(symmetry_order(ring(n, flat)), 2 * n);     // Cnh
    EXPECT_EQ(symmetry_order(ring(n, twisted)), n);      // Cn
    for (const auto& molecule : {upright, flat, twisted}) {
      EXPECT_EQ(point_group(ring(n, molecule)).rotations, n);
    }
  }
}

TEST(SymmetryOrder, DoesNotDependOnPlaceOrOrder) {
  std::vector<double> x = ring(4, {0, 0, 0, 0.7, 0.3, 0.1, -0.2, 0.8, 0.5});
  for (std::size_t k = 0; k < x.size(); k += 3) {
    // A rotation by 3, 4, 5 about x, and a shift.
    const double y = 0.6 * x[k + 1] - 0.8 * x[k + 2], z = 0.8 * x[k + 1] + 0.6 * x[k + 2];
    x[k] += 17.0;
    x[k + 1] = y - 5.0;
    x[k + 2] = z;
  }
  EXPECT_EQ(symmetry_order(x), 4);
  std::rotate(x.begin(), x.begin() + 18, x.end());
  EXPECT_EQ(symmetry_order(x), 4);
  x[0] += 0.05;
  EXPECT_EQ(symmetry_order(x), 1);
}

/// The lowest minimum of eight molecules of TIP4P is the cube S4, of TIP3P the cube D2d.
TEST(SymmetryOrder, OfTheCubes) {
  const std::string folder = std::string(TARN_SOURCE_DIR) + "/inputs/structures/";
  EXPECT_EQ(symmetry_order(io::XyzReader(folder + "tip4p-8.xyz").next()->positions_A), 4);
  EXPECT_EQ(symmetry_order(io::XyzReader(folder + "tip3p-8.xyz").next()->positions_A), 8);
  EXPECT_EQ(point_group(io::XyzReader(folder + "tip4p-8.xyz").next()->positions_A).rotations, 2);
  EXPECT_EQ(point_group(io::XyzReader(folder + "tip3p-8.xyz").next()->positions_A).rotations, 4);
}

}  // namespace
}  // namespace tarn::analysis
