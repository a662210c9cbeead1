#include "start/cluster_moves.hpp"

#include "tarn/minimise.hpp"
#include "tarn/physics/water_model.hpp"
#include "tarn/start.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using Eigen::Vector3d;

Vector3d atom(const std::vector<double>& x, std::size_t molecule, std::size_t which) {
  return Eigen::Map<const Vector3d>(&x[9 * molecule + 3 * which]);
}

/// The molecule that accepts the hydrogen bond of each hydrogen (closer than 2.5 A), or -1.
std::vector<int> acceptors(const std::vector<double>& x) {
  const std::size_t n = x.size() / 9;
  std::vector<int> result;
  for (std::size_t m = 0; m < n; ++m) {
    for (std::size_t h = 1; h < 3; ++h) {
      int nearest = -1;
      double distance = 2.5;
      for (std::size_t j = 0; j < n; ++j) {
        const double r = (atom(x, j, 0) - atom(x, m, h)).norm();
        if (j == m || r >= distance) continue;
        distance = r;
        nearest = static_cast<int>(j);
      }
      result.push_back(nearest);
    }
  }
  return result;
}

std::vector<double> moved(const WaterModel& model, std::vector<double> x, std::uint64_t hop) {
  start::ClusterMoves moves(model, static_cast<int>(x.size() / 9));
  start::HopRandom draws(5, 0, hop);
  moves.move(draws, x);
  return x;
}

/// Number of oxygens that moved.
int displaced(const std::vector<double>& x, const std::vector<double>& y) {
  int count = 0;
  for (std::size_t m = 0; m < x.size() / 9; ++m) {
    count += (atom(x, m, 0) - atom(y, m, 0)).norm() > 1e-9 ? 1 : 0;
  }
  return count;
}

TEST(HopDraws, AreUniformAndOfTheirHopAlone) {
  start::HopRandom draws(1, 2, 3), again(1, 2, 3), other(1, 2, 4);
  double sum = 0.0;
  constexpr int kCount = 20'000;
  int same = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = draws.next();
    EXPECT_EQ(u, again.next());
    same += u == other.next() ? 1 : 0;
    sum += u;
  }
  EXPECT_EQ(same, 0);
  // 4.5 standard errors of a uniform number.
  EXPECT_NEAR(sum / kCount, 0.5, 4.5 * std::sqrt(1.0 / 12.0 / kCount));
  std::set<std::size_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(draws.index(3));
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 2}));
}

TEST(ClusterMoves, LeaveMoleculesRigidAndMoveSomething) {
  for (const char* name : {"tip3p", "tip4p"}) {
    const WaterModel model = *find_water_model(name);
    for (const int n : {2, 3, 7, 20}) {
      const std::vector<double> x = quenched_cluster(model, n, 1, 0);
      int still = 0;
      for (std::uint64_t hop = 0; hop < 100; ++hop) {
        const std::vector<double> y = moved(model, x, hop);
        for (std::size_t m = 0; m < static_cast<std::size_t>(n); ++m) {
          for (const auto& [a, b, length] :
               {std::tuple{1, 0, model.r_oh_A}, {2, 0, model.r_oh_A}, {1, 2, model.r_hh_A()}}) {
            EXPECT_NEAR((atom(y, m, a) - atom(y, m, b)).norm(), length, test::length_rounding_A());
          }
        }
        double largest = 0.0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          largest = std::max(largest, std::abs(y[i] - x[i]));
        }
        still += largest < 1e-6 ? 1 : 0;
        EXPECT_EQ(y, moved(model, x, hop));
      }
      // Only if no chain, or no place, was found.
      EXPECT_LE(still, 5) << name << ' ' << n;
    }
  }
}

/// All kinds of moves occur: of no oxygen, of one or two, and of all.
TEST(ClusterMoves, MoveNoneAFewOrAllOxygens) {
  const WaterModel model = *find_water_model("tip4p");
  const std::vector<double> x = quenched_cluster(model, 12, 1, 0);
  std::array<int, 13> count{};
  constexpr int kHops = 1000;
  for (std::uint64_t hop = 0; hop < kHops; ++hop) {
    ++count[static_cast<std::size_t>(displaced(x, moved(model, x, hop)))];
  }
  const auto expect_share = [&](int seen, double share) {
    EXPECT_NEAR(seen, kHops * share, 4.5 * std::sqrt(kHops * share * (1.0 - share)));
  };
  // Frequencies out of 4.4: bonds or rotations of all, one or two molecules, all shaken. The second
  // of two is the first again with the sum of the squares of p (1 - p)^k, p = 1 - exp(-1/2).
  const double p = 1.0 - std::exp(-0.5), again = p / (2.0 - p);
  expect_share(count[0], 2.2 / 4.4);
  expect_share(count[1], (1.0 + again) / 4.4);
  expect_share(count[2], (1.0 - again) / 4.4);
  expect_share(count[12], 0.2 / 4.4);
}

/// The ring of four molecules: reversed, each hydrogen bond has its donor and acceptor exchanged,
/// the free hydrogens stay free, and the quenched ring is the mirror image, of the same energy.
TEST(ClusterMoves, ReverseARingOfHydrogenBonds) {
  const WaterModel model = *find_water_model("tip4p");
  const LowestCluster ring = lowest_cluster(model, 4, 1, {.starts = 8});
  const std::vector<int> before = acceptors(ring.positions_A);
  ASSERT_EQ(std::count(before.begin(), before.end(), -1), 4);
  ForceField force_field(model, 4);
  int reversed = 0;
  for (std::uint64_t hop = 0; hop < 2000; ++hop) {
    std::vector<double> x = moved(model, ring.positions_A, hop);
    if (displaced(ring.positions_A, x) != 0) continue;
    const std::vector<int> after = acceptors(x);
    bool all = true;
    for (int m = 0; m < 4; ++m) {
      for (std::size_t h = 0; h < 2; ++h) {
        const auto at = 2 * static_cast<std::size_t>(m) + h;
        if (before[at] < 0) {
          all = all && after[at] < 0;
          continue;
        }
        // Molecule m now accepts the bond that it donated.
        const auto other = 2 * static_cast<std::size_t>(before[at]);
        all = all && (after[other] == m || after[other + 1] == m);
      }
    }
    if (!all) continue;
    ++reversed;
    // Two gradients of 1e-6, in up to 60 coordinates with stiffnesses of 0.01 kcal/mol/A^2 and
    // more.
    EXPECT_NEAR(quench_to_minimum(force_field, x, {1e-6, 10'000, {}}).energy_kcal_per_mol,
                ring.energy_kcal_per_mol, 2 * 60 * 1e-12 / (2.0 * 0.01));
  }
  // Of 2 in 4.4 hops one in three has one chain, which passes the free hydrogens with 1/2 each: 19
  // of 2000, and some of those with three.
  EXPECT_GT(reversed, 10);
}

/// An evaporated molecule is reinserted, because the most weakly bound one is chosen most often.
TEST(ClusterMoves, TakeWeakMoleculesFirst) {
  const WaterModel model = *find_water_model("tip4p");
  std::vector<double> x = quenched_cluster(model, 8, 1, 0);
  for (std::size_t c = 0; c < 3; ++c) x[9 * 5 + 3 * c] += 12.0;
  int taken = 0, single = 0;
  for (std::uint64_t hop = 0; hop < 500; ++hop) {
    const std::vector<double> y = moved(model, x, hop);
    if (displaced(x, y) != 1) continue;
    ++single;
    taken += (atom(x, 5, 0) - atom(y, 5, 0)).norm() > 1e-9 ? 1 : 0;
  }
  // The probability of a rank below 1 with a mean rank of 2: 1 - exp(-1/2).
  const double share = 1.0 - std::exp(-0.5);
  ASSERT_GT(single, 50);
  EXPECT_NEAR(taken, share * single, 4.5 * std::sqrt(share * (1.0 - share) * single));
}

}  // namespace
}  // namespace tarn
