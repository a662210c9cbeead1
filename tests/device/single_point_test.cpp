#include "device_fixture.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/start.hpp"

/// @file
/// Single points of every device against the plain sum.

namespace tarn {
namespace {

using namespace test;

class SinglePointsOf : public DeviceTest {};

TEST_P(SinglePointsOf, AreThePlainSum) {
  for (const WaterModel& model : kWaterModels) {
    for (const int n : {1, 2, 7, 31, 33, 100, 129}) {
      SCOPED_TRACE(std::string(model.name) + " " + std::to_string(n));
      std::vector<double> x = random_cluster(model, n, 3, 0);
      for (double& c : x) c += 40.0;  // as in files whose origin is a corner
      const PlainEnergy expected = plain_energy(model, x);
      const SinglePoint point = single_point(model, x, {GetParam()});
      // Sums of positive terms of this size, in some order, each good to some ten roundings and to
      // what rounded coordinates of 50 A leave of distances of 2 A.
      const double tolerance = 1e-13 * static_cast<double>(expected.size) + 1e-15;
      EXPECT_NEAR(point.energy.coulomb_kcal_per_mol, static_cast<double>(expected.coulomb),
                  tolerance);
      EXPECT_NEAR(point.energy.lj_kcal_per_mol, static_cast<double>(expected.lj), tolerance);
      ASSERT_EQ(point.forces_kcal_per_mol_A.size(), x.size());
      if (n == 1) {
        for (double force : point.forces_kcal_per_mol_A) EXPECT_EQ(force, 0.0);
      } else {
        EXPECT_LT(relative_rms(point.forces_kcal_per_mol_A, expected.forces), 1e-13);
      }
    }
  }
}

TEST(SinglePoints, NeedADeviceThatIsKnown) {
  const std::vector<double> x = random_cluster(tip3p(), 2, 3, 0);
  for (const char* name : {"foo", "cuda7", "gpu", ""}) {
    EXPECT_THROW(single_point(tip3p(), x, {name}), InputError) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SinglePointsOf, ::testing::Values("cpu", "cuda"), name_of_device);

}  // namespace
}  // namespace tarn
