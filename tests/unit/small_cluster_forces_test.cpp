#include "src/cpu/small_cluster_forces.hpp"

#include "src/cpu/layout.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

/// @file
/// Energies and forces of small clusters: one molecule per lane and one cluster per lane give the
/// same bits, with all instruction sets.

namespace tarn::cpu {
namespace {

using namespace test;

struct Results {
  std::vector<double> energies, forces;
  bool operator==(const Results&) const = default;
};

/// The results of clusters that are passed to compute() in parts.
Results compute(SmallClusterForces& forces, int clusters_per_call, const std::vector<double>& x,
                std::size_t numbers) {
  Results r{std::vector<double>(x.size() / numbers), std::vector<double>(x.size())};
  const auto step = static_cast<std::size_t>(clusters_per_call);
  for (std::size_t first = 0; first < r.energies.size(); first += step) {
    forces.compute(clusters_per_call, &x[first * numbers], &r.energies[first],
                   &r.forces[first * numbers]);
  }
  return r;
}

void check(const WaterModel& model, int molecules, const KernelTable& kernels) {
  SCOPED_TRACE(std::string(model.name) + " " + std::to_string(molecules) + " " + kernels.name);
  std::vector<double> x;
  Random random(5);
  for (int r = 0; r < kernels.lanes; ++r) {
    for (const double c : random_cluster(model, molecules, 3, r)) {
      x.push_back(c + random.uniform(-0.02, 0.02));
    }
  }
  SmallClusterForces forces(model, molecules, kernels);
  const auto numbers = static_cast<std::size_t>(9 * molecules);
  // Earlier clusters leave nothing behind.
  const std::vector<double> invalid(x.size(), std::numeric_limits<double>::quiet_NaN());
  compute(forces, kernels.lanes, invalid, numbers);
  const Results alone = compute(forces, 1, x, numbers);
  EXPECT_EQ(alone, compute(forces, kernels.lanes, x, numbers));
  compute(forces, 1, invalid, numbers);
  EXPECT_EQ(alone, compute(forces, 1, x, numbers));
}

TEST(SmallClusterForces, HaveTheSameBitsWithAMoleculeOrAClusterPerLane) {
  const KernelTable* tables[8];
  const int count = usable_kernels(tables, 8);
  for (int t = 0; t < count; ++t) {
    ASSERT_TRUE(molecule_lanes_are_faster(7, 1, tables[t]->lanes, 1));
    ASSERT_FALSE(molecule_lanes_are_faster(7, tables[t]->lanes, tables[t]->lanes, 1));
    for (const WaterModel& model : kWaterModels) {
      for (int n = 1; n <= 17; ++n) check(model, n, *tables[t]);
    }
    for (const WaterModel& model : kFlexibleWaterModels) {
      for (int n = 1; n <= 17; ++n) check(model, n, *tables[t]);
    }
    for (const int n : {31, 33, 64}) check(tip3p(), n, *tables[t]);
  }
}

}  // namespace
}  // namespace tarn::cpu
