#include "analysis/isomers.hpp"

#include "io/archive.hpp"
#include "testing.hpp"

namespace tarn::analysis {
namespace {

constexpr std::array<int, 2> kReplicas{3, 5};
constexpr double kSame = 1e-7;

/// Sample number t of all replicas: energies on a ladder of whole numbers, the higher the rarer.
std::vector<QuenchedCluster> sample(std::mt19937& random, std::vector<double>& positions_A) {
  std::geometric_distribution<int> level(0.3);
  std::vector<QuenchedCluster> clusters;
  positions_A.resize(kReplicas[0] + kReplicas[1]);
  for (int walker = 0; double& energy : positions_A) {
    energy = -50.0 + level(random);  // represents a structure
    const std::size_t group = walker < kReplicas[0] ? 0 : 1;
    const int place = group == 0 ? walker : walker - kReplicas[0];
    clusters.push_back({group, place, place % 3, walker++, energy, {&energy, 1}});
  }
  return clusters;
}

/// For any number of minima, the populations of the listed ones equal those in a complete list.
TEST(IsomerCensus, CountsTheLowestAsAListOfAllWould) {
  for (const std::size_t most : {1u, 3u, 100u}) {
    IsomerCensus census(most, kSame, kReplicas, 3, 8);
    std::mt19937 random(7);
    std::vector<double> positions_A;
    std::vector<std::vector<QuenchedCluster>> all;
    for (int t = 0; t < 200; ++t) {
      const auto clusters = sample(random, positions_A);
      census.add(clusters);
      all.push_back(clusters);  // without the data that the structures point to
    }
    std::vector<double> energies;
    for (const auto& clusters : all) {
      for (const auto& cluster : clusters) energies.push_back(cluster.energy_kcal_per_mol);
    }
    std::sort(energies.begin(), energies.end());
    energies.erase(std::unique(energies.begin(), energies.end()), energies.end());
    ASSERT_GT(energies.size(), 5u);
    energies.resize(std::min(energies.size(), most));
    ASSERT_EQ(census.isomers().size(), energies.size());
    for (std::size_t i = 0; i < energies.size(); ++i) {
      const Isomer& isomer = census.isomers()[i];
      EXPECT_EQ(isomer.energy_kcal_per_mol, energies[i]);
      EXPECT_EQ(isomer.positions_A, std::vector{energies[i]});
      // The last group contains all clusters, by independent parts.
      for (std::size_t group = 0; group <= kReplicas.size(); ++group) {
        const bool is_all = group == census.all();
        const int replicas = is_all ? kReplicas[0] + kReplicas[1] : kReplicas[group];
        EXPECT_EQ(census.samples(group), 200.0 * replicas);
        PooledBlocking expected = PooledBlocking::of_replicas(is_all ? 3 : replicas);
        for (const auto& clusters : all) {
          std::vector<std::int64_t> places;
          std::vector<double> is_in;
          for (const auto& cluster : clusters) {
            if (!is_all && cluster.group != group) continue;
            places.push_back(is_all ? cluster.part : cluster.place);
            is_in.push_back(cluster.energy_kcal_per_mol == energies[i] ? 1.0 : 0.0);
          }
          expected.add_replicas(places, is_in);
        }
        const Blocking share = isomer.shares[group].result();
        // The numbers that are added are the same, but for the first, which is taken off.
        EXPECT_NEAR(share.mean, expected.result().mean, 1e-14);
        EXPECT_NEAR(share.error, expected.result().error, 1e-14);
      }
    }
  }
}

TEST(IsomerCensus, EnergiesThatAreNearerThanTheToleranceAreOneMinimum) {
  const std::vector<double> x{0.0};
  const auto census_of = [&](double distance) {
    const std::array<int, 1> one{1};
    IsomerCensus census(10, kSame, one, 1, 1);
    for (const double energy : {-3.0, -3.0 + distance, -3.0 - distance}) {
      const QuenchedCluster cluster{0, 0, 0, 0, energy, x};
      census.add({&cluster, 1});
    }
    return census.isomers().size();
  };
  EXPECT_EQ(census_of(0.9 * kSame), 1u);
  EXPECT_EQ(census_of(1.1 * kSame), 3u);
}

TEST(IsomerCensus, ContinuesFromASavedState) {
  IsomerCensus straight(4, kSame, kReplicas, 3, 8), first(4, kSame, kReplicas, 3, 8),
      second(4, kSame, kReplicas, 3, 8);
  std::mt19937 random(3);
  std::vector<double> positions_A;
  for (int t = 0; t < 40; ++t) {
    const auto clusters = sample(random, positions_A);
    straight.add(clusters);
    (t < 17 ? first : second).add(clusters);
    if (t != 16) continue;
    std::stringstream saved;
    io::Archive written{static_cast<std::ostream&>(saved)};
    first.archive(written);
    io::Archive read{static_cast<std::istream&>(saved)};
    second.archive(read);
  }
  ASSERT_EQ(second.isomers().size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const Isomer &a = second.isomers()[i], &b = straight.isomers()[i];
    EXPECT_EQ(a.energy_kcal_per_mol, b.energy_kcal_per_mol);
    EXPECT_EQ(a.positions_A, b.positions_A);
    for (const std::size_t group : {0u, 1u}) {
      EXPECT_EQ(a.shares[group].memory(), b.shares[group].memory());
    }
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.halves.memory(), b.halves.memory());
  }
  EXPECT_EQ(second.paths().memory(), straight.paths().memory());
}

/// A minimum that is found late has the zeros of earlier steps: its halves differ.
TEST(IsomerCensus, HalvesOfALateMinimumIncludeItsZeros) {
  const std::array<int, 1> replicas{8};
  IsomerCensus census(10, kSame, replicas, 8, 8);
  const std::vector<double> x{0.0};
  for (int t = 0; t < 64; ++t) {
    std::vector<QuenchedCluster> clusters;
    for (int r = 0; r < 8; ++r) {
      clusters.push_back({0, r, r, r, t < 32 || r == t % 8 ? -2.0 : -3.0, x});
    }
    census.add(clusters);
  }
  EXPECT_EQ(census.isomers()[0].halves.shift(0.0).mean, 0.875);
  EXPECT_EQ(census.isomers()[1].halves.shift(0.0).mean, -0.875);
}

TEST(IsomerPaths, CountChangesBetweenTheChosenIsomers) {
  IsomerPaths paths(2);
  // Isomer 2 is a defect of isomer 0: a walker that returns from it has not changed.
  for (const std::int64_t id : {0, 0, 2, 0, 1, 1, 2, 1, 0}) paths.add(0, id);
  paths.add(1, 1);
  paths.add(2, 0);  // beyond the recorded walkers
  EXPECT_EQ(paths.changes_per_walker(std::vector<std::int64_t>{0, 1}), 1.0);
  EXPECT_EQ(paths.changes_per_walker(std::vector<std::int64_t>{0, 1, 2}), 3.0);
  EXPECT_EQ(paths.changes_per_walker(std::vector<std::int64_t>{}), 0.0);
  const auto first = [](std::int64_t walker) { return walker == 0; };
  EXPECT_EQ(paths.changes_per_walker(std::vector<std::int64_t>{0, 1}, first), 2.0);
  IsomerPaths other(2);
  other.restore(paths.memory());
  EXPECT_EQ(other.memory(), paths.memory());
  EXPECT_EQ(paths.memory().size(), 2u + 7u + 1u);
  const std::vector<std::int64_t> memory = paths.memory();
  EXPECT_THROW(other.restore(std::span(memory).first(4)), LayoutError);
  EXPECT_THROW(other.restore({}), LayoutError);
}

TEST(IsomerCensus, AGroupWithoutSamplesHasNone) {
  IsomerCensus census(4, kSame, kReplicas, 3, 8);
  const std::vector<double> x{0.0};
  const QuenchedCluster cluster{1, 2, 1, 5, -7.0, x};
  census.add({&cluster, 1});
  census.add({});
  EXPECT_EQ(census.samples(0), 0.0);
  EXPECT_EQ(census.samples(1), 1.0);
  EXPECT_EQ(census.isomers()[0].shares[0].samples(), 0.0);
  EXPECT_EQ(census.isomers()[0].shares[1].result().mean, 1.0);
}

}  // namespace
}  // namespace tarn::analysis
