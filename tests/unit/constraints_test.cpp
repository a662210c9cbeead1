#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "constraint_fixtures.hpp"
#include "core/pack.hpp"
#include "physics/settle.hpp"
#include "physics/shake.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

/// @file
/// SHAKE by Newton's method and by sweeps, and SETTLE.

namespace tarn {
namespace {

using namespace test;

struct Newton {
  static constexpr const char* name = "newton";
  static auto of(const Move& c, double tolerance) {
    return ConstrainByNewton<double>{c.reference, c.m, tolerance};
  }
};
struct Sweeps {
  static constexpr const char* name = "sweeps";
  static auto of(const Move& c, double tolerance) {
    return ConstrainBySweeps<double>{c.reference, c.m, tolerance};
  }
};
struct Settle {
  static constexpr const char* name = "settle";
  static auto of(const Move& c, double) { return ConstrainBySettle<double>{c.settle, c.m}; }
};
template <class Algorithm>
Constrained<double> run(const Move& c, double tolerance) {
  return constrained(c.x_old, c.x_free, Algorithm::of(c, tolerance));
}
Triple<double> settled(const Move& c) { return run<Settle>(c, 0.0).x; }

template <class Algorithm>
class Constraints : public ::testing::Test {
 protected:
  static constexpr bool kIterates = !std::is_same_v<Algorithm, Settle>;
  std::string named(const char* what) { return std::string(Algorithm::name) + "_" + what; }
};
using AllAlgorithms = ::testing::Types<Newton, Sweeps, Settle>;
TYPED_TEST_SUITE(Constraints, AllAlgorithms);

template <class Iteration>
using Shake = Constraints<Iteration>;
using Iterations = ::testing::Types<Newton, Sweeps>;
TYPED_TEST_SUITE(Shake, Iterations);

// --- all three ---

// At a tolerance of 1e-14 the coordinates (below 8 A) are as good as their roundings of 4e-16 allow
// after the 60 sweeps or so that it takes: each rounds them a few times. SETTLE has some 60
// roundings of numbers below 2 A beside the final ones of coordinates; projections onto the new
// axes divide by cos phi, cos psi > 0.8 at moves of 0.2 A.
TYPED_TEST(Constraints, SolveTheirEquations) {
  Random random(2);
  Worst error(this->named("to_reference"));
  for_moves(random, 1000, 0.2, [&](const Move& c) {
    const Constrained<double> r = run<TypeParam>(c, 1e-14);
    ASSERT_TRUE(r.converged);
    error.see((to_vector(r.x) - constrained_by_newton(c)).norm());
  });
  error.expect_below(this->kIterates ? 1e-13 : 2e-14);
}

// The law of the constraint force: it acts along the bonds of x_old. The displacement is then in
// the span of M^-1 J^T(x_old) and gives the molecule no momentum and no angular momentum, whether
// or not an iteration is at its end. Coordinates of 8 A are rounded to 4e-16, up to three times a
// sweep, in up to 30 sweeps.
TYPED_TEST(Constraints, MoveAlongTheOldBonds) {
  Random random(3);
  Worst along(this->named("off_span")), momentum(this->named("momentum"));
  Worst angular(this->named("angular_momentum"));
  for_moves(random, 500, 0.2, [&](const Move& c) {
    for (double tolerance : {1e-2, 1e-8}) {
      const MoveLaws laws(c, run<TypeParam>(c, tolerance).x);
      along.see(laws.off_span);
      momentum.see(laws.momentum);
      angular.see(laws.angular_momentum);
    }
  });
  const double bound = this->kIterates ? 2e-14 : 1e-14;
  along.expect_below(bound);
  momentum.expect_below(18 * bound);
  angular.expect_below(18 * bound);
}

// A displacement s n x r about a principal axis n through the centre of mass: the angular momentum
// about it, and nothing else, decides the angle, sin(theta) = s. A length that is wrong by 1e-14 is
// an angle that is wrong by that over cos(theta), or more where the iteration is slow; in SETTLE a
// rounding of s is one of the angle over cos(theta).
TYPED_TEST(Constraints, TurnByTheArcSine) {
  for_turns([](const Move& c, const Triple<double>& turned, double s) {
    constexpr bool iterates = TestFixture::kIterates;
    if (iterates && s > 0.9) return;  // in the plane the sweeps do not find their way from there
    const Constrained<double> r = run<TypeParam>(c, 1e-14);
    ASSERT_TRUE(r.converged);
    EXPECT_LT((to_vector(r.x) - to_vector(turned)).norm(),
              iterates ? 3e-14 / (1 - s * s) : 30 * kEpsilon / std::sqrt(1 - s * s))
        << "s = " << s;
  });
}

TYPED_TEST(Constraints, LeaveARigidMoleculeAlone) {
  Random random(4);
  for_moves(random, 200, 0.0, [&](const Move& c) {
    const Constrained<double> r = run<TypeParam>(c, 1e-12);
    EXPECT_TRUE(r.converged);
    EXPECT_EQ(r.iterations, this->kIterates ? 1.0 : 0.0);
    EXPECT_LT((to_vector(r.x) - to_vector(c.x_old)).norm(), 1e-14);
  });
}

// --- SHAKE ---

// No rigid triangle can be reached: that must be said. Many molecules have none at this size of
// move; all of those that do converge must hold the constraints.
TYPED_TEST(Shake, ReportsMissingConvergence) {
  Random random(6);
  int failed = 0, done = 0;
  for_moves(random, 300, 1.5, [&](const Move& c) {
    const Constrained<double> r = run<TypeParam>(c, 1e-8);
    if (r.converged) {
      ++done;
      // Three constraints, each to the tolerance of squared lengths up to 2.3 A^2, twice.
      EXPECT_LT(dense_constraint(r.x, c.reference).norm(), std::sqrt(3.0) * 2.0 * 2.3 * 1e-8);
    } else {
      ++failed;
    }
  });
  EXPECT_GT(failed, 100);
  EXPECT_GT(done, 100);
}

// An iteration that breaks down, by a bond at a right angle to the old one or by input that is not
// a number, has not converged.
TYPED_TEST(Shake, NotANumberIsNotConverged) {
  const WaterModel& model = kWaterModels[0];
  const Triple<double> x = molecule_at_origin(model);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Vec3<double>& h1 : {Vec3<double>{nan, 0.7, 0}, Vec3<double>{1e200, 0, 0}}) {
    EXPECT_FALSE(run<TypeParam>(make_move(model, x, {x.o, h1, x.h2}), 1e-8).converged);
  }
  const Triple<double> right_angles{x.o, {0, 0, 0.9}, {0, 0, -0.9}};
  EXPECT_FALSE(run<TypeParam>(make_move(model, x, right_angles), 1e-8).converged);
}

// A molecule gets the same bits from whatever pack it is in, though the lanes need different
// numbers of iterations and some never converge.
TYPED_TEST(Shake, PackGivesTheBitsOfScalars) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(7);
  for (const WaterModel& model : kWaterModels) {
    const auto shake = TypeParam::of(make_move(model, {}, {}), 1e-8);
    int mixed = 0, mixed_failures = 0;
    for (int n = 0; n < 300; ++n) {
      std::array<Triple<double>, lanes> x_old, x_free;
      for (int lane = 0; lane < lanes; ++lane) {
        x_old[lane] = random_molecule(model, random, 5.0);
        const double size = n % 3 == 0 ? 1.5 : random.log_uniform(1e-10, 0.2);
        x_free[lane] = x_old[lane] + random.triple(size);
      }
      const auto pack =
          constrained(pack_triples<double>(x_old), pack_triples<double>(x_free), shake);
      const Pack<double> converged = select(pack.converged, Pack<double>(1.0), Pack<double>(0.0));
      std::set<double> iterations, ends;
      for (int lane = 0; lane < lanes; ++lane) {
        const auto scalar = constrained(x_old[lane], x_free[lane], shake);
        // Where the iteration breaks down only the fact counts, not the bits of a NaN.
        ASSERT_EQ(converged[lane] != 0.0, scalar.converged);
        ASSERT_EQ(pack.iterations[lane], scalar.iterations);
        if (std::isfinite(scalar.x.o.x)) {
          ASSERT_EQ(bits_of_triple(lane_of(pack.x, lane)), bits_of_triple(scalar.x));
        } else {
          ASSERT_FALSE(std::isfinite(lane_of(pack.x, lane).o.x));
        }
        iterations.insert(scalar.iterations);
        ends.insert(converged[lane]);
      }
      mixed += iterations.size() > 1;
      mixed_failures += ends.size() > 1;
    }
    // The test would say nothing if the lanes of a pack went together.
    EXPECT_GT(mixed, 100);
    EXPECT_GT(mixed_failures, 10);
  }
}

/// Relative error of the bond lengths.
Real length_error(const Move& c, const Triple<double>& x) {
  const auto g = dense_constraint(x, c.reference);
  return std::max({std::fabs(g(0)) / (2 * c.reference.oh2), std::fabs(g(1)) / (2 * c.reference.oh2),
                   std::fabs(g(2)) / (2 * c.reference.hh2)});
}

// A sweep shrinks errors by less than a half, so that about as much is left as it moved. It must
// not be much better either: the tolerance is what is paid for.
TEST(ShakeSweeps, HoldTheBondsToTheTolerance) {
  for (double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    Random random(1);
    Worst error("sweeps_length_error_1e" + std::to_string(std::lround(std::log10(tolerance))));
    for_moves(random, 500, 0.2,
              [&](const Move& c) { error.see(length_error(c, run<Sweeps>(c, tolerance).x)); });
    error.expect_between(0.1 * tolerance, 2 * tolerance);
  }
}

// A Newton step ds makes |s|^2 + 2 s.ds the squared reference length, and leaves |ds|^2: half the
// square of the last relative move, which is below the tolerance, and 1e-15 of rounding.
TEST(ShakeNewton, HoldsTheBondsToTheSquareOfTheTolerance) {
  for (double tolerance : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    Random random(1);
    Worst error("newton_length_error_1e" + std::to_string(std::lround(std::log10(tolerance))));
    for_moves(random, 500, 0.2,
              [&](const Move& c) { error.see(length_error(c, run<Newton>(c, tolerance).x)); });
    error.expect_between(0.4 * tolerance * tolerance, 0.5 * tolerance * tolerance + 1e-15);
  }
}

// To first order a sweep is one of Gauss-Seidel on J M^-1 J^T, and shrinks errors by its spectral
// radius: a factor of 1e4 in the tolerance costs ln 1e4 / -ln radius sweeps. Single molecules need
// whole numbers of sweeps, which averages out; moves of 0.01 A change the matrix by some percent.
TEST(ShakeSweeps, ConvergeAtTheRateOfGaussSeidel) {
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    Random random(5);
    double mean[3] = {};
    const int n = 400;
    for (int k = 0; k < n; ++k) {
      const Triple<double> x = random_molecule(model, random, 1.0);
      const Move c = make_move(model, x, x + random.triple(0.01));
      const double tolerances[3] = {1e-5, 1e-9, 1e-13};
      for (int t = 0; t < 3; ++t) mean[t] += run<Sweeps>(c, tolerances[t]).iterations / n;
    }
    const Matrix39 j = dense_jacobian(molecule_at_origin(model));
    const Eigen::Matrix3d s =
        (j * inverse_mass_matrix(masses(model)) * j.transpose()).cast<double>();
    const Eigen::Matrix3d lower = s.triangularView<Eigen::Lower>();
    const Eigen::Matrix3d sweep = Eigen::Matrix3d::Identity() - lower.inverse() * s;
    const double radius = sweep.eigenvalues().cwiseAbs().maxCoeff();
    const double expected = std::log(1e4) / -std::log(radius);
    EXPECT_NEAR(mean[1] - mean[0], expected, 0.03 * expected);
    EXPECT_NEAR(mean[2] - mean[1], expected, 0.03 * expected);
  }
}

// Moves of 0.01 A: lengths are wrong by 1e-2, 1e-4, 1e-8, 1e-16 after 0, 1, 2, 3 iterations, and
// the one that finds nothing left to do may be the fourth.
TEST(ShakeNewton, NeedsThreeOrFourIterations) {
  Random random(5);
  std::set<double> iterations;
  for (const WaterModel& model : kWaterModels) {
    for (int k = 0; k < 400; ++k) {
      const Triple<double> x = random_molecule(model, random, 1.0);
      iterations.insert(run<Newton>(make_move(model, x, x + random.triple(0.01)), 1e-8).iterations);
    }
  }
  EXPECT_GE(*iterations.begin(), 2.0);
  EXPECT_LE(*iterations.rbegin(), 4.0);
}

// --- SETTLE ---

// s and d of the rigid triangle, and the moments of inertia that go with their masses: the sum of
// all m |x|^2 about the centre of mass, which is m_d |d|^2 + m_s |s|^2.
TEST(SettleParameters, DescribeTheTriangle) {
  for (const WaterModel& model : kWaterModels) {
    SCOPED_TRACE(std::string(model.name));
    const SettleParameters<double> p = settle_parameters(model);
    const Masses<double> m = masses(model);
    const Triple<double> x = molecule_at_origin(model);
    const JacobiVectors<double> b = jacobi_vectors(x);
    EXPECT_NEAR(norm2(b.s) * p.inverse_s * p.inverse_s, 1.0, 20 * kEpsilon);
    EXPECT_NEAR(norm2(b.d) * p.inverse_d * p.inverse_d, 1.0, 20 * kEpsilon);
    EXPECT_NEAR(p.s_over_d * p.inverse_s, p.inverse_d, 4 * kEpsilon);
    EXPECT_NEAR(p.d_over_s * p.inverse_d, p.inverse_s, 4 * kEpsilon);
    const Vec3<double> centre = m.fraction_h * (x.h1 + x.h2);
    const double inertia =
        m.o * norm2(centre) + m.h * (norm2(x.h1 - centre) + norm2(x.h2 - centre));
    const double of_d = 0.5 * m.h * norm2(b.d);
    EXPECT_NEAR(p.inertia_d, of_d / inertia, 20 * kEpsilon);
    EXPECT_NEAR(p.inertia_s + p.inertia_d, 1.0, 4 * kEpsilon);
    EXPECT_NEAR(p.inverse_turn * inertia, 0.5 * m.h / m.w, 20 * kEpsilon);
  }
}

// What x_old lacks of the constraints is taken out to first order: e becomes e^2, or e times the
// square of a turn.
TEST(Settle, RemovesConstraintErrorsOfOldPositions) {
  Random random(8);
  Worst error("settle_healed_over_bound");
  for (const double turn : {0.0, 0.02, 0.1}) {
    for (const double e : {1e-3, 1e-5, 1e-7}) {
      for_moves(random, 100, turn, [&](Move c) {
        const Triple<double> lack = random.triple(e);
        c.x_old = c.x_old + lack;
        c.x_free = c.x_free + lack;
        error.see(dense_constraint(settled(c), c.reference).norm() /
                  (100 * e * (e + turn) + 2e-14));
      });
    }
  }
  error.expect_below(1.0);
}

// Where no rigid triangle can be reached, sin(phi), sin(psi) or the discriminant of theta say so
// and all nine numbers are NaN; else the result is right, however far the atoms moved. NaN where
// SHAKE finds a solution would be wrong too.
TEST(Settle, GivesNotANumberOrTheRightAnswer) {
  Random random(5);
  Worst length2("settle_large_length2"), along("settle_large_off_span");
  int none = 0, solved = 0;
  for_moves(random, 2000, 3.0, [&](const Move& c) {
    const Triple<double> x = settled(c);
    const std::array<double, 9> a = to_array(x);
    int nan = 0;
    for (double v : a) nan += std::isnan(v);
    ASSERT_TRUE(nan == 0 || nan == 9);
    if (nan == 9) {
      ++none;
      return;
    }
    ++solved;
    length2.see(dense_constraint(x, c.reference).norm());
    along.see(MoveLaws(c, x).off_span);
  });
  length2.expect_below(2e-14);
  along.expect_below(2e-14);
  EXPECT_GT(none, 1000);
  EXPECT_GT(solved, 1000);
}

// As far as moves of 0.4 A: where SHAKE finds a triangle SETTLE finds the same. SHAKE stops at
// 1e-12, which is more of positions where old and new bonds are nearly across each other: 1.5e-11
// was the worst of 4000, as of angles of 4 degrees; ten times that is for those of half a degree.
TEST(Settle, MatchesShake) {
  Random random(6);
  int unsolved = 0;
  for_moves(random, 4000, 0.4, [&](const Move& c) {
    const auto s = run<Sweeps>(c, 1e-12);
    const Triple<double> x = settled(c);
    if (std::isnan(x.o.x)) {
      ++unsolved;
      EXPECT_FALSE(s.converged);
    } else if (s.converged) {
      EXPECT_LT((to_vector(x) - to_vector(s.x)).norm(), 1.5e-10);
    }
  });
  EXPECT_GT(unsolved, 0);
}

TEST(Settle, NotANumberStaysOne) {
  const WaterModel& model = kWaterModels[0];
  const Triple<double> x = molecule_at_origin(model);
  Triple<double> broken = x;
  broken.h2.z = std::numeric_limits<double>::quiet_NaN();
  for (double v : to_array(settled(make_move(model, x, broken)))) EXPECT_TRUE(std::isnan(v));
}

// A lane's bits do not depend on the other lanes, one of which may have no solution. Reciprocal
// square roots make lanes differ from scalars in the last bits.
TEST(Settle, LanesAreIndependent) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(7);
  Worst error("settle_pack_to_scalar");
  for (const WaterModel& model : kWaterModels) {
    const auto settle = Settle::of(make_move(model, {}, {}), 0.0);
    const auto packed = [&](const auto& x_old, const auto& x_free) {
      return constrained(pack_triples<double>(x_old), pack_triples<double>(x_free), settle).x;
    };
    for (int n = 0; n < 300; ++n) {
      std::array<Triple<double>, lanes> x_old, x_free, same_old, same_free;
      for (int lane = 0; lane < lanes; ++lane) {
        x_old[lane] = random_molecule(model, random, 5.0);
        x_free[lane] = x_old[lane] + random.triple(0.2);
      }
      if (n % 2 == 0) x_free[n % lanes].h1.x += 5.0;
      const auto pack = packed(x_old, x_free);
      for (int lane = 0; lane < lanes; ++lane) {
        same_old.fill(x_old[lane]);
        same_free.fill(x_free[lane]);
        const auto x = lane_of(pack, lane), alone = lane_of(packed(same_old, same_free), lane);
        if (std::isnan(x.o.x)) {
          ASSERT_TRUE(n % 2 == 0 && lane == n % lanes);
          ASSERT_TRUE(std::isnan(alone.o.x));
          continue;
        }
        ASSERT_EQ(bits_of_triple(x), bits_of_triple(alone));
        const Move move = make_move(model, x_old[lane], x_free[lane]);
        error.see((to_vector(x) - to_vector(settled(move))).norm());
      }
    }
  }
  error.expect_below(2e-14);
}

}  // namespace
}  // namespace tarn
