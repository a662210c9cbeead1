#include "tarn/physics/extremes.hpp"

#include "testing.hpp"

namespace tarn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Molecules along x, 10 A apart, with bonds of 1 A.
std::vector<double> row(int molecules) {
  std::vector<double> x;
  for (int m = 0; m < molecules; ++m) {
    const double at = 10.0 * m;
    x.insert(x.end(), {at, 0, 0, at, 1, 0, at, 0, 1});
  }
  return x;
}

TEST(ClosestAtoms, AreOfDifferentMolecules) {
  std::vector<double> x = row(3);
  x[2 * 9 + 3] = 10.0;  // H1 of the last one to the second one, 2 A above its H1
  x[2 * 9 + 4] = 3.0;
  EXPECT_EQ(closest_atoms(x), (ClosestAtoms{{1, 1}, {2, 1}, 2.0}));
}

TEST(ClosestAtoms, OfOneMoleculeAreItsOwn) {
  std::vector<double> x = row(1);
  x[7] = 0.5;
  x[8] = 0.0;
  EXPECT_EQ(closest_atoms(x), (ClosestAtoms{{0, 0}, {0, 2}, 0.5}));
}

TEST(ClosestAtoms, IgnoresNan) {
  std::vector<double> x = row(3);
  for (int c = 9; c < 18; ++c) x[static_cast<std::size_t>(c)] = kNaN;
  EXPECT_EQ(closest_atoms(x).a.molecule, 0);
  EXPECT_EQ(closest_atoms(x).b.molecule, 2);
  EXPECT_EQ(closest_atoms(x).distance_A, 20.0);
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
