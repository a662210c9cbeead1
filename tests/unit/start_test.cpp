#include "tarn/start.hpp"

#include <atomic>
#include <unistd.h>

#include <Eigen/Dense>

#include "engine_fixtures.hpp"
#include "io/xyz.hpp"
#include "physics/penalty.hpp"
#include "start/cell_grid.hpp"
#include "start/cluster_moves.hpp"
#include "start/start_sources.hpp"
#include "testing.hpp"

namespace tarn {
namespace {

using namespace test;
using Eigen::Vector3d;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Rates of squared lengths are sums of three products, up to 2 * 1.6 A * 2 A/akma.
constexpr double kRates = few_roundings(6.4);

/// Distance of the centre of mass from the origin.
double off_centre(const WaterModel& model, const std::vector<double>& x) {
  return 9.0 * momenta(model, x, x).moment.norm() /
         (static_cast<double>(x.size()) * model.molecule_mass_Da());
}

// --- random numbers and cells ---

// Moments at 4.5 standard errors over 20000 draws.
TEST(Uniform, DirectionsAndRotationsAreUniform) {
  const int n = 20'000;
  Vector3d direction = Vector3d::Zero(), squares = Vector3d::Zero();
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Zero(), rotation2 = Eigen::Matrix3d::Zero();
  for (int k = 0; k < n; ++k) {
    const auto u = start::uniforms(3, 5, 7, static_cast<std::uint64_t>(k));
    for (double v : u) {
      ASSERT_GT(v, 0.0);
      ASSERT_LT(v, 1.0);
    }
    const Vector3d d = start::random_direction(u[0], u[1]);
    ASSERT_NEAR(d.norm(), 1.0, 1e-15 * 4);
    direction += d / n;
    squares += d.cwiseAbs2() / n;
    const Eigen::Matrix3d r = start::random_rotation(u[2], u[3], u[4]).toRotationMatrix();
    rotation += r / n;
    rotation2 += r.cwiseAbs2() / n;
  }
  // A component has mean 0 and variance 1/3; its square 1/3 and 4/45. So has each element of R.
  const double mean = 4.5 * std::sqrt(1.0 / 3.0 / n), square = 4.5 * std::sqrt(4.0 / 45.0 / n);
  EXPECT_LT(direction.cwiseAbs().maxCoeff(), mean);
  EXPECT_LT((squares.array() - 1.0 / 3.0).abs().maxCoeff(), square);
  EXPECT_LT(rotation.cwiseAbs().maxCoeff(), mean);
  EXPECT_LT((rotation2.array() - 1.0 / 3.0).abs().maxCoeff(), square);
}

TEST(CellGrid, FindsEveryNeighbour) {
  Random random(1);
  for (double distance : {0.7, 3.0, 50.0}) {
    // Points outside the box too.
    start::CellGrid grid(Vector3d::Constant(-8.0), Vector3d::Constant(8.0), distance);
    std::vector<Vector3d> points;
    for (int k = 0; k < 300; ++k) {
      const Vec3<double> p = random.in_ball(12.0);
      points.emplace_back(p.x, p.y, p.z);
      grid.add(points.back());
    }
    for (const Vector3d& x : points) {
      std::vector<bool> seen(points.size(), false);
      EXPECT_TRUE(grid.visit_near(x, [&](int i) {
        EXPECT_FALSE(seen[static_cast<std::size_t>(i)]);
        return seen[static_cast<std::size_t>(i)] = true;
      }));
      for (std::size_t i = 0; i < points.size(); ++i) {
        if ((points[i] - x).norm() < distance) {
          EXPECT_TRUE(seen[i]);
        }
      }
      EXPECT_FALSE(grid.visit_near(x, [](int) { return false; }));
    }
  }
}

// --- random clusters ---

TEST(RandomCluster, RigidCentredAndApart) {
  for (const WaterModel& model : kWaterModels) {
    for (int n : {1, 2, 3, 7, 31, 33, 257}) {
      const std::vector<double> x = random_cluster(model, n, 4, 1);
      ASSERT_EQ(x.size(), static_cast<std::size_t>(9 * n));
      EXPECT_LT(worst_length(model, x), length_rounding_A(16.0));
      // The centre is a sum of 3 n terms of up to 16 A, each made and added.
      EXPECT_LT(off_centre(model, x), rounding(3.0 * n, 2, 16.0));
      double oxygens = kInfinity, others = kInfinity;
      for (std::size_t a = 0; a < x.size() / 3; ++a) {
        for (std::size_t b = a + 1; b < x.size() / 3; ++b) {
          if (a / 3 == b / 3) continue;
          const double d = std::hypot(x[3 * a] - x[3 * b], x[3 * a + 1] - x[3 * b + 1],
                                      x[3 * a + 2] - x[3 * b + 2]);
          double& closest = a % 3 == 0 && b % 3 == 0 ? oxygens : others;
          closest = std::min(closest, d);
        }
      }
      // Round-off of the shift to the centre of mass.
      EXPECT_GE(oxygens, 2.6 - 1e-13);
      EXPECT_GE(others, 1.5 - 1e-13);
    }
  }
}

TEST(RandomCluster, DependsOnSeedAndReplicaOnly) {
  const std::vector<double> x = random_cluster(tip3p(), 7, 4, 1);
  EXPECT_EQ(x, random_cluster(tip3p(), 7, 4, 1));
  EXPECT_NE(x, random_cluster(tip3p(), 7, 5, 1));
  EXPECT_NE(x, random_cluster(tip3p(), 7, 4, 2));
  EXPECT_NE(x, random_cluster(tip3p(), 7, 4 + (1ull << 32), 1));
}

// A sphere of 40 A^3 per molecule that grows little: the work is linear in N.
TEST(RandomCluster, LargeOnesAreDense) {
  const int n = 20'000;
  const std::vector<double> x = random_cluster(tip3p(), n, 1, 0);
  double radius = 0.0;
  for (std::size_t c = 0; c < x.size(); c += 9) {
    radius = std::max(radius, std::hypot(x[c], x[c + 1], x[c + 2]));
  }
  const double volume = 4.0 / 3.0 * units::pi * std::pow(radius, 3) / n;
  EXPECT_GT(volume, 38.0);
  EXPECT_LT(volume, 55.0);
}

// Coordinates up to 8 A are rounded to 0.9e-15 A when they are stored: two in each of three
// directions of a length, and its frame's as many again; once in each, and once in the sum, of the
// centre. The energy has 190 pairs of nine distances, up to 120 kcal/mol each, some five roundings:
// 4.5 deviations of a sum of random ones, 3e-12. Measured: 1.1e-15, 2e-16, 3e-13.
TEST(QuenchedCluster, IsNearAMinimum) {
  MinimiseResult r;
  const std::vector<double> x = quenched_cluster(tip3p(), 20, 3, 2, &r);
  EXPECT_TRUE(r.converged);
  EXPECT_LE(r.max_gradient_kcal_per_mol_A, 1e-3);  // where such a quench ends
  EXPECT_LT(worst_length(tip3p(), x), 6e-15);
  EXPECT_LT(off_centre(tip3p(), x), 4e-15);
  ForceField force_field(tip3p(), 20);
  EXPECT_NEAR(force_field.energy(x).total_kcal_per_mol(), r.energy_kcal_per_mol,
              4.5 * kEpsilon * 120.0 * std::sqrt(190 * 9 * 5 / 3.0));
  EXPECT_EQ(x, quenched_cluster(tip3p(), 20, 3, 2));
}

TEST(QuenchIterations, FallWithTheNumberOfPairs) {
  EXPECT_EQ(max_quench_iterations(1), 10'000);
  EXPECT_EQ(max_quench_iterations(1000), 10'000);
  EXPECT_NEAR(max_quench_iterations(10'000), 100, 1);  // rounded one way or the other
  EXPECT_EQ(max_quench_iterations(100'000), 1);
}

// --- search for the lowest minimum ---

// All starts find the minimum of two molecules; the first of them is kept.
TEST(LowestCluster, TiesGoToTheFirstStart) {
  EXPECT_EQ(lowest_cluster(tip3p(), 1, 1).energy_kcal_per_mol, 0.0);
  EXPECT_EQ(lowest_cluster(tip3p(), 1, 1).starts_that_hit, 1);
  const LowestCluster r = lowest_cluster(tip3p(), 2, 3, {.starts = 8, .threads = 3});
  EXPECT_EQ(r.start, 0);
  EXPECT_EQ(r.starts_that_hit, 8);
  EXPECT_EQ(r.positions_A, lowest_cluster(tip3p(), 2, 3, {.starts = 1}).positions_A);
}

/// A longer search begins with the hops of a shorter one: its result is not higher, except for the
/// accuracy of the quench of a hop.
TEST(LowestCluster, MoreHopsGoOnFromFewer) {
  for (const int molecules : {6, 12}) {
    const auto lowest = [&](int hops) {
      return lowest_cluster(tip3p(), molecules, 3, {.starts = 1, .hops = hops, .threads = 1})
          .energy_kcal_per_mol;
    };
    const double one = lowest(1), ten = lowest(10), fifty = lowest(50);
    EXPECT_LT(ten, one + 1e-3);
    EXPECT_LT(fifty, ten + 1e-3);
    // One hop may find the minimum of six molecules, but not one of the lowest of twelve.
    if (molecules == 12) {
      EXPECT_LT(fifty, one - 0.1);
    }
    EXPECT_EQ(lowest(0), lowest(default_hops(molecules)));
  }
}

TEST(LowestCluster, ManyHopsAreOfFewStarts) {
  ASSERT_EQ(default_starts(2), 96);
  const auto starts_done = [](int starts, int hops) {
    return lowest_cluster(tip3p(), 2, 3, {.starts = starts, .hops = hops, .threads = 2})
        .starts_done;
  };
  EXPECT_EQ(starts_done(0, 1200), 96 * 50 / 1200);
  EXPECT_EQ(starts_done(0, 10'000), 1);
  EXPECT_EQ(starts_done(3, 2), 3);
}

/// The kept minima are minima, distinct and in ascending order, and depend neither on their number
/// nor on threads.
TEST(LowestCluster, KeepsTheLowestDistinctMinima) {
  const LowestCluster alone = lowest_cluster(tip3p(), 6, 3, {.starts = 4, .threads = 2});
  ASSERT_EQ(alone.minima.size(), 1u);
  EXPECT_EQ(alone.minima[0].positions_A, alone.positions_A);
  const LowestCluster some = lowest_cluster(tip3p(), 6, 3, {.starts = 4, .keep = 4, .threads = 3});
  EXPECT_EQ(some.positions_A, alone.positions_A);
  ASSERT_EQ(some.minima.size(), 4u);
  EXPECT_EQ(some.minima[0].positions_A, alone.positions_A);
  EXPECT_EQ(some.minima[0].starts_that_hit, alone.starts_that_hit);
  ForceField force_field(tip3p(), 6);
  for (std::size_t i = 0; i < some.minima.size(); ++i) {
    const FoundMinimum& m = some.minima[i];
    EXPECT_GE(m.starts_that_hit, 1);
    EXPECT_LE(m.starts_that_hit, 4);
    if (i > 0) {
      EXPECT_GT(m.energy_kcal_per_mol, some.minima[i - 1].energy_kcal_per_mol + 1e-7);
    }
    EXPECT_LT(worst_length(tip3p(), m.positions_A), length_rounding_A());
    EXPECT_LT(off_centre(tip3p(), m.positions_A), rounding(18, 2, 8.0));
    // Already a minimum: a quench to 1e-6 kcal/mol/A ends immediately.
    std::vector<double> x = m.positions_A;
    const MinimiseResult r = quench(force_field, x, {2e-6, 100, {}});
    EXPECT_LE(r.iterations, 1) << i;
    // A gradient of 1e-6 leaves 1e-12/2 of each coordinate, with stiffnesses above 1.
    EXPECT_NEAR(r.energy_kcal_per_mol, m.energy_kcal_per_mol,
                36 * 1e-12 / 2.0 + rounding(15 * 9, 5, 120.0));
  }
  for (const int threads : {1, 8}) {
    const LowestCluster other =
        lowest_cluster(tip3p(), 6, 3, {.starts = 4, .keep = 4, .threads = threads});
    EXPECT_EQ(other.start, some.start);
    for (std::size_t i = 0; i < some.minima.size(); ++i) {
      EXPECT_EQ(other.minima[i].positions_A, some.minima[i].positions_A);
      EXPECT_EQ(other.minima[i].energy_kcal_per_mol, some.minima[i].energy_kcal_per_mol);
      EXPECT_EQ(other.minima[i].starts_that_hit, some.minima[i].starts_that_hit);
    }
  }
}

TEST(LowestCluster, ReportsProgress) {
  int calls = 0;
  double last = kInfinity;
  const auto progress = [&](int done, int starts, double lowest) {
    EXPECT_EQ(done, ++calls);
    EXPECT_EQ(starts, 6);
    // Starts that find the same minimum agree to 1e-6.
    EXPECT_LE(lowest, last + 1e-6);
    last = lowest;
  };
  lowest_cluster(tip3p(), 3, 1, {.starts = 6, .progress = progress});
  EXPECT_EQ(calls, 6);
  EXPECT_NEAR(last, -17.440225, kSixDecimals);
  // Exceptions pass through the threads.
  const auto fail = [](int, int, double) { throw std::runtime_error("enough"); };
  EXPECT_EQ(message_of<std::runtime_error>([&] {
              lowest_cluster(tip3p(), 3, 1, {.starts = 6, .threads = 2, .progress = fail});
            }),
            "enough");
}

TEST(LowestCluster, KeepsTheLowestWhenItIsInterrupted) {
  int done = 0;
  const auto progress = [&](int d, int, double) { done = d; };
  const auto until_two = [&] { return done < 2; };
  const LowestCluster some = lowest_cluster(
      tip3p(), 5, 1,
      {.starts = 20, .threads = 1, .progress = progress, .should_continue = until_two});
  EXPECT_EQ(some.starts_done, 2);
  // The others are left out.
  std::vector<double> x = some.positions_A;
  ForceField force_field(tip3p(), 5);
  EXPECT_EQ(quench_to_minimum(force_field, x).iterations, 0);
  const LowestCluster none = lowest_cluster(
      tip3p(), 5, 1, {.starts = 20, .threads = 2, .should_continue = [] { return false; }});
  EXPECT_EQ(none.positions_A.size(), 45u);
}

TEST(Clusters, RefuseBadNumbers) {
  for (const int n : {0, -3}) EXPECT_THROW(random_cluster(tip3p(), n, 1, 0), InputError);
  EXPECT_THROW(lowest_cluster(tip3p(), 0, 1), InputError);
  EXPECT_THROW(lowest_cluster(tip3p(), 2, 1, {.starts = -1}), InputError);
  EXPECT_THROW(lowest_cluster(tip3p(), 2, 1, {.hops = -1}), InputError);
}

TEST(LowestCluster, DefaultStarts) {
  EXPECT_GE(default_starts(7), 48);
  EXPECT_EQ(default_hops(8), 50);
  EXPECT_GT(default_hops(12), 300);
  for (int n : {1, 2, 9, 20, 100, 1000, 100'000}) {
    EXPECT_GE(default_starts(n), 1) << n;
    EXPECT_LE(default_starts(n), 96) << n;
    // At most about a minute on one core: 32 000 quenches, or 1e7 pairs; but at least one start.
    const double hops = default_hops(n), pairs = 0.5 * n * (n - 1.0);
    EXPECT_LE(default_starts(n) * hops, 32'000.0) << n;
    EXPECT_LE(default_hops(n) * pairs, 1e7) << n;
  }
}

// --- velocities ---

struct Sample {
  WaterModel model = tip3p();
  std::vector<double> x, v;
  int replicas = 400, molecules = 7;

  Sample(double temperature_K, bool tangent) {
    for (int r = 0; r < replicas; ++r) {
      const std::vector<double> y = random_cluster(model, molecules, 2, r);
      std::vector<double> u(y.size());
      start::draw_velocities(model, y, temperature_K, tangent, 11, r, u);
      x.insert(x.end(), y.begin(), y.end());
      v.insert(v.end(), u.begin(), u.end());
    }
  }
  std::size_t size() const { return x.size() / 9; }
};

/// A chi-squared sum over f degrees of freedom must be f within 4.5 standard deviations sqrt(2 f).
void expect_chi_squared(double sum, double f, const char* what) {
  EXPECT_NEAR(sum, f, 4.5 * std::sqrt(2.0 * f)) << what;
}

// 9 N degrees of freedom: each coordinate has m v^2 = kT.
TEST(Velocities, FreeAtomsHaveTheirShares) {
  const double temperature_K = 298.15, kT = units::boltzmann_kcal_per_mol_K * temperature_K;
  const Sample s(temperature_K, false);
  std::array<double, 9> sums{};
  for (std::size_t k = 0; k < s.v.size(); ++k) {
    sums[k % 9] += s.model.mass_Da(static_cast<int>(k % 9) / 3) * s.v[k] * s.v[k] / kT;
  }
  for (double sum : sums) expect_chi_squared(sum, static_cast<double>(s.size()), "coordinate");
}

// 6 N: three degrees of translation and three of rotation with kT each, and none along the bonds.
TEST(Velocities, RigidMoleculesHaveTheirShares) {
  const double temperature_K = 10.06, kT = units::boltzmann_kcal_per_mol_K * temperature_K;
  const Sample s(temperature_K, true);
  const Vector9 mass = mass_matrix(masses(s.model)).diagonal();
  double translation = 0.0, all = 0.0;
  for (std::size_t m = 0; m < s.size(); ++m) {
    const Triple<double> v = molecule(s.v, m);
    const Vector9 momentum = (mass.array() * to_vector(v).array()).matrix();
    translation +=
        static_cast<double>(total(momentum).squaredNorm()) / s.model.molecule_mass_Da() / kT;
    all += static_cast<double>(momentum.dot(to_vector(v))) / kT;
  }
  const double n = static_cast<double>(s.size());
  expect_chi_squared(translation, 3.0 * n, "translation");
  expect_chi_squared(all - translation, 3.0 * n, "rotation");
  // Velocities of 0.2 A/akma times 2 |d| < 4 A, a few roundings of positions of 10 A.
  EXPECT_LT(largest_bond_rate(s.x, s.v), 1e-14);
}

TEST(Momentum, IsRemovedWithoutChangingBonds) {
  for (int n : {1, 2, 7, 100}) {
    for (bool tangent : {false, true}) {
      std::vector<double> x = random_cluster(tip3p(), n, 2, 0), v(x.size());
      // At any position, not only around the origin.
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += k % 3 == 0 ? 5.0 : -2.0;
      start::draw_velocities(tip3p(), x, 300.0, tangent, 3, 0, v);
      const std::vector<double> old = v;
      const double kinetic = momenta(tip3p(), x, v).kinetic;
      start::remove_momentum(tip3p(), x, v);
      const Momenta after = momenta(tip3p(), x, v);
      // Sums of N terms of 10 Da A/akma and 200 Da A^2/akma.
      EXPECT_LT(after.linear.norm(), 1e-13 * n);
      EXPECT_LT(after.angular.norm(), 3e-12 * n);
      EXPECT_LT(after.kinetic, kinetic);
      std::vector<double> removed = old;
      for (std::size_t k = 0; k < v.size(); ++k) removed[k] -= v[k];
      EXPECT_LT(largest_bond_rate(x, removed), kRates);
      // A second call has nothing left to remove.
      const std::vector<double> once = v;
      start::remove_momentum(tip3p(), x, v);
      for (std::size_t k = 0; k < v.size(); ++k) EXPECT_NEAR(v[k], once[k], 1e-15 * n + 1e-16);
    }
  }
}

// A single rigid molecule has no other motion.
TEST(Momentum, OneRigidMoleculeStops) {
  const std::vector<double> x = random_cluster(tip3p(), 1, 2, 0);
  std::vector<double> v(9);
  start::draw_velocities(tip3p(), x, 300.0, true, 3, 0, v);
  start::remove_momentum(tip3p(), x, v);
  for (double c : v) EXPECT_LT(std::abs(c), few_roundings());
}

// Collinear atoms: no rotation about their axis, and no division by zero.
TEST(Momentum, AtomsOnALine) {
  std::vector<double> x(18), v(18);
  for (std::size_t a = 0; a < 6; ++a) {
    x[3 * a] = static_cast<double>(a);
    x[3 * a + 1] = 0.5 * static_cast<double>(a);
    v[3 * a + 1] = 0.1 * static_cast<double>(a);
    v[3 * a + 2] = 0.3 - 0.1 * static_cast<double>(a);
  }
  start::remove_momentum(tip3p(), x, v);
  const Momenta after = momenta(tip3p(), x, v);
  // Six terms of up to 16 Da A/akma, of three operations, with arms of 5 A.
  EXPECT_LT(after.linear.norm(), rounding(6, 3, 16.0));
  EXPECT_LT(after.angular.norm(), 5.0 * rounding(6, 3, 16.0));
  // All atoms in one point.
  std::vector<double> point(18, 1.0), u(18, 0.5);
  start::remove_momentum(tip3p(), point, u);
  for (double c : u) EXPECT_NEAR(c, 0.0, few_roundings());
}

// --- the start of a deck ---

class StartFromFile : public ::testing::Test {
 protected:
  Deck deck_of(const std::vector<double>& x, const std::string& model = "tip3p") {
    io::Structure s;
    s.molecules = static_cast<int>(x.size() / 9);
    s.positions_A = x;
    s.comment["model"] = model;
    io::write_structure(folder_.file("start.xyz"), s);
    Deck deck;
    deck.path = folder_.file("deck.toml");
    deck.system.file = "start.xyz";
    deck.integrator.scheme = Scheme::settle;
    deck.system.relax = false;
    return deck;
  }
  static std::vector<double> seven() { return reference_positions(7); }

  ScratchFolder folder_;
};

Deck random_deck(int molecules, int replicas) {
  Deck deck;
  deck.path = "nowhere/deck.toml";
  deck.system.molecules = molecules;
  deck.system.replicas = replicas;
  deck.system.temperature_K = 100.0;
  deck.integrator.scheme = Scheme::shake;
  deck.system.relax = false;
  return deck;
}

std::vector<double> replica(const std::vector<double>& all, const State& s, std::size_t r) {
  const auto size = static_cast<std::ptrdiff_t>(s.coordinates());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r) * size;
  return {begin, begin + size};
}

TEST_F(StartFromFile, EveryReplicaStartsThere) {
  Deck deck = deck_of(seven());
  deck.system.replicas = 3;
  deck.system.temperature_K = 10.0;
  const Start start = make_start(deck);
  EXPECT_TRUE(start.messages.empty());
  const State& s = start.state;
  EXPECT_EQ(s.molecules, 7);
  EXPECT_EQ(s.step, 0);
  EXPECT_EQ(s.replica_ids, (std::vector<std::int64_t>{0, 1, 2}));
  ASSERT_EQ(s.positions_A.size(), 3u * 63u);
  ASSERT_EQ(s.velocities_A_per_akma.size(), 3u * 63u);
  const std::vector<double> x = seven();
  // The bonds are corrected.
  for (std::size_t c = 0; c < 63; ++c) {
    EXPECT_NEAR(s.positions_A[c], x[c], 2.0 * worst_length(tip3p(), x));
  }
  for (std::size_t r = 1; r < 3; ++r) {
    EXPECT_EQ(replica(s.positions_A, s, r), replica(s.positions_A, s, 0));
  }
  EXPECT_LT(worst_length(tip3p(), s.positions_A), length_rounding_A());
  EXPECT_NE(replica(s.velocities_A_per_akma, s, 0), replica(s.velocities_A_per_akma, s, 1));
}

TEST_F(StartFromFile, RigidSchemesGetRigidMolecules) {
  std::vector<double> x = seven();
  x[9 * 4 + 3] += 0.05;
  for (const bool rigid : {true, false}) {
    Deck deck = deck_of(x);
    if (!rigid) {
      deck.integrator.scheme = Scheme::zss_stiff;
      deck.integrator.omega = kInfinity;
    }
    const Start start = make_start(deck);
    EXPECT_LT(worst_length(tip3p(), start.state.positions_A), length_rounding_A());
    expect_messages(start.messages, {"molecule 4"});
    for (double v : start.state.velocities_A_per_akma) EXPECT_EQ(v, 0.0);
  }
  // A penalty scheme without relaxation keeps the structure.
  Deck deck = deck_of(x);
  deck.integrator.scheme = Scheme::zss_stiff;
  const Start start = make_start(deck);
  EXPECT_TRUE(start.messages.empty());
  EXPECT_EQ(start.state.positions_A, x);
}

TEST_F(StartFromFile, PenaltySchemesAreRelaxed) {
  Deck deck = deck_of(seven());
  deck.integrator.scheme = Scheme::zss_stiff;
  deck.integrator.omega = 20.0;
  deck.system.relax = true;
  deck.system.replicas = 2;
  const Start start = make_start(deck);
  expect_messages(start.messages, {"-61.014119"});
  const State& s = start.state;
  EXPECT_EQ(replica(s.positions_A, s, 0), replica(s.positions_A, s, 1));
}

TEST_F(StartFromFile, RejectsOtherMolecules) {
  std::vector<double> x = seven();
  // Molecule 3: H2 0.5 A further out.
  for (std::size_t k = 0; k < 3; ++k) x[24 + k] += 0.5 * (x[24 + k] - x[18 + k]);
  Deck deck = deck_of(x);
  for (const Scheme scheme : {Scheme::settle, Scheme::zss_stiff}) {
    deck.integrator.scheme = scheme;
    expect_throws<InputError>({"start.xyz", "molecule 2 ", "O-H2"}, [&] { make_start(deck); });
  }
}

TEST_F(StartFromFile, ReportsFilesOfAnotherModel) {
  const Deck deck = deck_of(random_cluster(*find_water_model("spc"), 3, 1, 0), "spc");
  const Start start = make_start(deck);
  expect_messages(start.messages, {"spc", "rigid geometry"});
}

TEST_F(StartFromFile, ReportsTheMomentumOfVelocities) {
  Deck deck = deck_of(seven());
  deck.system.temperature_K = 100.0;
  for (const bool rests : {true, false}) {
    deck.system.remove_momentum = rests;
    deck.system.velocities = VelocityKind::tangent;
    const Start drawn = make_start(deck);
    io::Structure file;
    file.molecules = 7;
    file.positions_A = drawn.state.positions_A;
    file.velocities_A_per_akma = drawn.state.velocities_A_per_akma;
    const std::string path = folder_.file("moving.xyz");
    io::write_structure(path, file);
    Deck again = deck;
    again.system.file = path;
    again.system.velocities = VelocityKind::file;
    again.system.remove_momentum = false;
    const Messages messages = make_start(again).messages;
    if (rests) expect_messages(messages, {"has no momentum. Set remove_momentum = true"});
    EXPECT_EQ(messages.empty(), !rests);
    again.system.remove_momentum = true;
    EXPECT_TRUE(make_start(again).messages.empty()) << "it knows";
    again.system.remove_momentum = false;
    again.thermostat.kind = Thermostat::gla;
    again.thermostat.friction_per_ps = 1.0;
    again.thermostat.temperature_K = 100.0;
    EXPECT_TRUE(make_start(again).messages.empty()) << "noise moves it";
  }
}

TEST_F(StartFromFile, RefusesAnotherNumberOfMolecules) {
  Deck deck = deck_of(seven());
  deck.system.molecules = 8;
  EXPECT_THROW(make_start(deck), InputError);
  deck.system.file = "missing.xyz";
  EXPECT_THROW(make_start(deck), IoError);
}

/// For example, a radius in nanometres.
TEST(Start, ReportsMoleculesFarOutsideTheWall) {
  Deck deck = random_deck(6, 3);
  for (const double radius_A : {0.3, 30.0}) {
    deck.confinement = ConfinementSection{.radius_A = radius_A, .stiffness_kcal_per_mol_A2 = 5.0};
    const Start start = make_start(deck);
    ASSERT_EQ(start.messages.size(), radius_A < 1.0 ? 1u : 0u);
    if (start.messages.empty()) continue;
    expect_parts_of(start.messages[0].text, {"3 of 3 replicas start outside", "radius_A = 0.3."});
  }
}

/// Oxygens with sigma = 1 A do not keep the charges of other molecules away.
TEST(Start, RefusesAQuenchInWhichAtomsFuse) {
  Deck deck = random_deck(3, 2);
  deck.system.model = kOwnModel;
  ModelSection& model = deck.model.emplace();
  model.oh_A = 0.9572;
  model.hoh_degrees = 104.52;
  model.sigma_A = 3.15061;
  model.epsilon_kcal_per_mol = 0.1521;
  model.charge_hydrogen_e = 0.417;
  EXPECT_NO_THROW(make_start(deck));
  deck.model->sigma_A = 1.0;
  expect_throws<InputError>({"the quenched start of replica ", "[model] sigma_A = 1 and"},
                            [&] { make_start(deck); });
  deck.system.start = StartKind::random;
  EXPECT_NO_THROW(make_start(deck));
}

TEST(Start, ClusterForEachReplica) {
  const Deck deck = random_deck(6, 3);
  const Start start = make_start(deck);
  EXPECT_TRUE(start.messages.empty());
  const State& s = start.state;
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(replica(s.positions_A, s, r),
              quenched_cluster(tip3p(), 6, deck.system.seed, static_cast<std::int64_t>(r)));
  }
  Deck other = deck;
  other.system.start = StartKind::random;
  const State t = make_start(other).state;
  EXPECT_EQ(replica(t.positions_A, t, 2), random_cluster(tip3p(), 6, deck.system.seed, 2));
}

/// Rigid, relaxed and projected starts without momentum.
std::vector<Deck> decks_of_all_kinds(int molecules, int replicas) {
  std::vector<Deck> decks(3, random_deck(molecules, replicas));
  for (Deck& deck : decks) deck.system.remove_momentum = true;
  decks[1].integrator.scheme = decks[2].integrator.scheme = Scheme::zss_stiff;
  decks[1].system.relax = decks[2].system.relax = true;
  decks[2].system.project = StartProjection::slow_manifold;
  return decks;
}

// Law 2: a replica is bitwise independent of the batch. Law 4: and of the number of threads.
TEST(Start, ReplicaAloneAndThreads) {
  for (const Deck& kind : decks_of_all_kinds(5, 6)) {
    Deck deck = kind;
    deck.run.threads = 1;
    const Start alone = make_start(deck);
    deck.run.threads = 4;
    const Start shared = make_start(deck);
    const State &batch = alone.state, &threaded = shared.state;
    EXPECT_EQ(batch.positions_A, threaded.positions_A);
    EXPECT_EQ(batch.velocities_A_per_akma, threaded.velocities_A_per_akma);
    EXPECT_EQ(batch.replica_ids, threaded.replica_ids);
    ASSERT_EQ(alone.slow.has_value(), deck.system.project == StartProjection::slow_manifold);
    if (alone.slow) {
      EXPECT_EQ(alone.slow->fast_after_kcal_per_mol, shared.slow->fast_after_kcal_per_mol);
    }
    for (int replicas : {1, 4}) {
      deck.system.replicas = replicas;
      const State fewer = make_start(deck).state;
      const auto last = static_cast<std::size_t>(replicas) - 1;
      EXPECT_EQ(replica(fewer.positions_A, fewer, last), replica(batch.positions_A, batch, last));
      EXPECT_EQ(replica(fewer.velocities_A_per_akma, fewer, last),
                replica(batch.velocities_A_per_akma, batch, last));
    }
  }
}

TEST(Start, PenaltySchemesAreRelaxed) {
  Deck deck = random_deck(5, 2);
  deck.integrator.scheme = Scheme::zss_stiff;
  deck.integrator.omega = 50.0;
  deck.system.relax = true;
  const Start start = make_start(deck);
  EXPECT_TRUE(start.messages.empty());
  const State& s = start.state;
  for (std::size_t r = 0; r < 2; ++r) {
    const std::vector<double> x = replica(s.positions_A, s, r);
    std::vector<double> f(x.size());
    ForceField force_field(tip3p(), 5);
    force_field.energy_and_forces(x, f);
    for (std::size_t m = 0; m < 5; ++m) {
      const auto bond = to_array(penalty_force(molecule(x, m), bond_reference(tip3p()), 50.0));
      for (std::size_t c = 0; c < 9; ++c) {
        EXPECT_NEAR(f[9 * m + c] + bond[c], 0.0, MinimiseOptions{}.tolerance_kcal_per_mol_A);
      }
    }
  }
}

double largest_bond_rate(const State& s) {
  return test::largest_bond_rate(s.positions_A, s.velocities_A_per_akma);
}

TEST(Start, Velocities) {
  Deck deck = random_deck(4, 2);
  EXPECT_LT(largest_bond_rate(make_start(deck).state), kRates);

  deck.integrator.scheme = Scheme::zss_stiff;
  EXPECT_GT(largest_bond_rate(make_start(deck).state), 1e-2);
  deck.integrator.omega = kInfinity;
  EXPECT_GT(largest_bond_rate(make_start(deck).state), 1e-2);
  deck.integrator.omega = 100.0;
  deck.system.velocities = VelocityKind::tangent;
  EXPECT_LT(largest_bond_rate(make_start(deck).state), kRates);

  // The thermostat's temperature is the default.
  const State given = make_start(deck).state;
  deck.system.temperature_K.reset();
  deck.thermostat.kind = Thermostat::gla;
  deck.thermostat.friction_per_ps = 1.0;
  deck.thermostat.temperature_K = 100.0;
  EXPECT_EQ(make_start(deck).state.velocities_A_per_akma, given.velocities_A_per_akma);

  // None without a temperature.
  deck.thermostat = {};
  for (double v : make_start(deck).state.velocities_A_per_akma) EXPECT_EQ(v, 0.0);
  deck.system.temperature_K = 100.0;
  deck.system.velocities = VelocityKind::zero;
  for (double v : make_start(deck).state.velocities_A_per_akma) EXPECT_EQ(v, 0.0);
}

// Twelve atoms have three velocities each, m v up to 2 Da A/akma, rounded twice; the angular
// momentum has arms up to 5 A. 4.5 deviations of sums of random roundings; measured is a quarter of
// both.
TEST(Start, RemovesMomentum) {
  for (const Deck& deck : decks_of_all_kinds(4, 2)) {
    const State s = make_start(deck).state;
    for (std::size_t r = 0; r < 2; ++r) {
      const std::vector<double> x = replica(s.positions_A, s, r),
                                v = replica(s.velocities_A_per_akma, s, r);
      const Momenta m = momenta(tip3p(), x, v);
      const double rounding = 4.5 * kEpsilon * 2.0 * std::sqrt(12 * 3 * 2 / 3.0);
      EXPECT_LT(m.linear.norm(), rounding);
      EXPECT_LT(m.angular.norm(), 5.0 * rounding);
      EXPECT_GT(m.kinetic, 0.1);
    }
    if (is_rigid(deck.integrator.scheme)) {
      EXPECT_LT(largest_bond_rate(s), kRates);
    }
  }
}

/// Starts that a comparison shares between schemes.
TEST(Start, DependsOnRelevantKeysOnly) {
  Deck deck = random_deck(3, 2);
  deck.integrator.scheme = Scheme::settle;
  deck.system.relax = false;
  const auto alike = [&](const auto& change) {
    Deck other = deck;
    change(other);
    const State a = make_start(deck).state, b = make_start(other).state;
    const bool same =
        a.positions_A == b.positions_A && a.velocities_A_per_akma == b.velocities_A_per_akma;
    EXPECT_EQ(have_equal_starts(deck, other), have_equal_starts(other, deck));
    EXPECT_TRUE(same || !have_equal_starts(deck, other));
    return have_equal_starts(deck, other);
  };
  EXPECT_TRUE(alike([](Deck& d) { d.integrator.scheme = Scheme::shake; }));
  EXPECT_TRUE(alike([](Deck& d) { d.integrator.timestep_fs = 4.0; }));
  EXPECT_TRUE(alike([](Deck& d) { d.run.steps = 9; }));
  EXPECT_FALSE(alike([](Deck& d) { d.integrator.scheme = Scheme::zss_stiff; }));
  EXPECT_FALSE(alike([](Deck& d) { d.system.seed = 2; }));
  EXPECT_FALSE(alike([](Deck& d) { d.system.replicas = 3; }));
  EXPECT_FALSE(alike([](Deck& d) { d.system.temperature_K = 50.0; }));
  EXPECT_FALSE(alike([](Deck& d) { d.system.model = "spce"; }));
  deck.integrator.scheme = Scheme::zss_stiff;
  deck.system.relax = true;
  EXPECT_TRUE(alike([](Deck& d) { d.integrator.scheme = Scheme::verlet; }));
  EXPECT_TRUE(alike([](Deck& d) { d.integrator.beta = 0.3; }));
  EXPECT_FALSE(alike([](Deck& d) { d.integrator.omega = 20.0; }));
  EXPECT_FALSE(alike([](Deck& d) { d.system.relax = false; }));
}

/// Its positions depend on the push-forward, which depends on the step.
TEST_F(StartFromFile, IsAlikeForTheSameStep) {
  const Deck deck = deck_of(seven());
  Deck other = deck;
  other.run.steps += 1;
  EXPECT_TRUE(have_equal_starts(deck, other));
  other.integrator.timestep_fs *= 2.0;
  EXPECT_FALSE(have_equal_starts(deck, other));
}

TEST(Start, EndsWhenItsCallbackStopsIt) {
  const Deck deck = random_deck(6, 5);
  int calls = 0, last = 0;
  make_start(deck, [&](int done, int replicas) {
    EXPECT_GE(done, last);
    EXPECT_EQ(replicas, 5);
    ++calls;
    last = done;
    return true;
  });
  EXPECT_GT(calls, 50) << "a quench takes long, and asks at each iteration";
  int more = calls / 2;
  EXPECT_THROW(make_start(deck, [&](int, int) { return --more > 0; }), StartInterrupted);
  EXPECT_EQ(more, 0) << "nobody is asked again";
}

TEST(Start, RefusesADeckWithoutMolecules) {
  EXPECT_THROW(make_start(random_deck(0, 1)), InputError);
  Deck deck = random_deck(2, 1);
  deck.system.model = "ice";
  EXPECT_THROW(make_start(deck), InputError);
}

}  // namespace
}  // namespace tarn
