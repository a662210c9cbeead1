#include "tarn/cluster_forces.hpp"

#include "device_fixture.hpp"
#include "tarn/minimise.hpp"
#include "tarn/start.hpp"

/// @file
/// Energies and forces of many clusters, on every device, against single points.

namespace tarn {
namespace {

using namespace test;

struct Clusters {
  WaterModel model;
  int molecules;
  std::vector<double> positions_A;
  std::size_t numbers() const { return 9 * static_cast<std::size_t>(molecules); }
  std::size_t count() const { return positions_A.size() / numbers(); }
  std::span<const double> at(std::size_t r) const {
    return std::span(positions_A).subspan(r * numbers(), numbers());
  }
};

Clusters clusters(const WaterModel& model, int molecules, int count) {
  Clusters all{model, molecules, {}};
  Random random(5);
  for (int r = 0; r < count; ++r) {
    for (const double c : random_cluster(model, molecules, 3, r)) {
      all.positions_A.push_back(c + random.uniform(-0.02, 0.02));
    }
  }
  return all;
}

struct Results {
  std::vector<double> energies, forces;
  bool operator==(const Results&) const = default;
};
Results compute(const Clusters& c, const DeviceRequest& device) {
  Results r{std::vector<double>(c.count()), std::vector<double>(c.positions_A.size())};
  ClusterForces(c.model, c.molecules, device).compute(c.positions_A, r.energies, r.forces);
  return r;
}

class ClusterForcesOf : public DeviceTest {};

TEST_P(ClusterForcesOf, MatchSinglePoints) {
  for (const char* name : {"tip3p", "tip4p", "qtip4pf", "spcfw"}) {
    for (const auto& [n, count] : {std::pair{1, 5}, {7, 19}, {33, 3}, {70, 2}}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(n));
      const Clusters c = clusters(*find_water_model(name), n, count);
      const Results results = compute(c, {GetParam()});
      for (std::size_t r = 0; r < c.count(); ++r) {
        const SinglePoint point = single_point(c.model, c.at(r), {"cpu"});
        // Another order of sums of some n^2 terms of up to 1e3 kcal/mol.
        EXPECT_NEAR(results.energies[r], point.energy.total_kcal_per_mol(), 1e-12 * n * n);
        const std::vector<double> forces(
            results.forces.begin() + static_cast<std::ptrdiff_t>(r * c.numbers()),
            results.forces.begin() + static_cast<std::ptrdiff_t>((r + 1) * c.numbers()));
        if (n > 1 || c.model.is_flexible()) {
          EXPECT_LT(relative_rms(forces, point.forces_kcal_per_mol_A), 1e-12);
        } else {
          for (const double f : forces) EXPECT_EQ(f, 0.0);
        }
      }
    }
  }
}

/// Minima to 1e-7 kcal/mol as by the CPU one by one, whatever the batch.
TEST_P(ClusterForcesOf, QuenchToTheSameMinima) {
  for (const auto& [name, n, count] : {std::tuple{"tip3p", 8, 5},
                                       {"tip3p", 3, 11},
                                       {"tip4p", 5, 3},
                                       {"spcfw", 1, 3},
                                       {"qtip4pf", 2, 3}}) {
    SCOPED_TRACE(std::string(name) + " " + std::to_string(n));
    const WaterModel model = *find_water_model(name);
    Clusters c{model, n, {}};
    // Near minima, so that all devices end at the same ones.
    for (int r = 0; r < count; ++r) {
      const std::vector<double> x = quenched_cluster(model, n, 3, r);
      c.positions_A.insert(c.positions_A.end(), x.begin(), x.end());
    }
    std::vector<double> all = c.positions_A;
    const auto results = minimise_clusters(model, n, all, {GetParam(), 2});
    for (std::size_t r = 0; r < c.count(); ++r) {
      const auto quenched = [&](const std::string& device) {
        std::vector<double> x(c.at(r).begin(), c.at(r).end());
        const MinimiseResult result = minimise_clusters(model, n, x, {device, 1}).front();
        EXPECT_TRUE(result.converged);
        return std::pair(result.energy_kcal_per_mol, x);
      };
      EXPECT_NEAR(results[r].energy_kcal_per_mol, quenched("cpu").first, 1e-7);
      if (r % 2 == 1) continue;  // an emulated quench takes tenths of a second
      const auto [energy, x] = quenched(GetParam());
      EXPECT_EQ(results[r].energy_kcal_per_mol, energy);
      EXPECT_TRUE(std::equal(x.begin(), x.end(),
                             all.begin() + static_cast<std::ptrdiff_t>(r * c.numbers())));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClusterForcesOf, ::testing::Values("cpu", "cuda"), name_of_device);

TEST(ClusterForces, OfAClusterDependOnNothingElse) {
  for (const char* name : {"tip3p", "tip4p2005", "qtip4pf", "spcfw"}) {
    for (const int n : {1, 2, 3, 7, 8, 9, 15, 33, 64, 70}) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(n));
      const Clusters c = clusters(*find_water_model(name), n, 11);
      const Results all = compute(c, {"cpu", 1});
      EXPECT_EQ(all, compute(c, {"auto", 3}));
      for (std::size_t r = 0; r < c.count(); ++r) {
        const Clusters one{c.model, n, {c.at(r).begin(), c.at(r).end()}};
        const Results alone = compute(one, {"cpu"});
        EXPECT_EQ(alone.energies[0], all.energies[r]);
        EXPECT_TRUE(std::equal(alone.forces.begin(), alone.forces.end(),
                               all.forces.begin() + static_cast<std::ptrdiff_t>(r * c.numbers())));
      }
    }
  }
}

TEST(ClusterForces, RefuseWrongSizesAndDevices) {
  EXPECT_THROW(ClusterForces(tip3p(), 0), InputError);
  std::vector<double> x(18), e(2), f(18);
  ClusterForces forces(tip3p(), 1);
  EXPECT_EQ(forces.molecules(), 1);
  EXPECT_THROW(forces.compute(std::span(x).first(9), e, f), InputError);
  EXPECT_THROW(forces.compute(x, e, std::span(f).first(9)), InputError);
  const Clusters c = clusters(tip3p(), 2, 1);
  EXPECT_THROW(compute(c, {"gpu"}), InputError);
}

TEST(DipoleMoments, AreSumsOverCharges) {
  const WaterModel model = *find_water_model("tip3p");
  const Clusters c = clusters(model, 3, 2);
  const std::vector<double> moments = dipole_moments_e_A(model, 3, c.positions_A);
  ASSERT_EQ(moments.size(), 6u);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t k = 0; k < 3; ++k) {
      double sum = 0.0;
      for (std::size_t atom = 0; atom < 9; ++atom) {
        sum += (atom % 3 == 0 ? model.charge_o_e : model.charge_h_e) * c.at(r)[3 * atom + k];
      }
      EXPECT_NEAR(moments[3 * r + k], sum, 1e-13);
    }
  }
  EXPECT_THROW(dipole_moments_e_A(model, 4, c.positions_A), InputError);
}

TEST(MinimiseClusters, EachAsAlone) {
  const Clusters c = clusters(tip3p(), 3, 4);
  std::vector<double> all = c.positions_A;
  const std::vector<MinimiseResult> results = minimise_clusters(tip3p(), 3, all, {"cpu", 2});
  for (std::size_t r = 0; r < 4; ++r) {
    std::vector<double> alone(c.at(r).begin(), c.at(r).end());
    make_rigid(tip3p(), alone, "alone");
    ForceField force_field(tip3p(), 3);
    const MinimiseResult expected = quench_to_minimum(force_field, alone);
    EXPECT_TRUE(results[r].converged);
    EXPECT_EQ(results[r].energy_kcal_per_mol, expected.energy_kcal_per_mol);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(r * c.numbers())));
  }
  all[4] += 1.0;
  EXPECT_THROW(minimise_clusters(tip3p(), 3, all), InputError);
  EXPECT_THROW(minimise_clusters(tip3p(), 5, all), InputError);
  WaterModel flexible = *find_water_model("spcfw");
  all[4] += 4.0;  // beyond 3 A, the limit of flexible bonds
  EXPECT_THROW(minimise_clusters(flexible, 3, all), InputError);
}

}  // namespace
}  // namespace tarn
