#include "physics/shake.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "constraint_fixtures.hpp"
#include "core/pack.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

struct Newton {
  static constexpr const char* name = "newton";
  template <class T>
  static Constrained<T> run(const Triple<T>& x_old, const Triple<T>& x_free,
                            const BondReference<double>& r, const Masses<double>& m,
                            double tolerance) {
    return constrained(x_old, x_free, ConstrainByNewton<double>{r, m, tolerance});
  }
};
struct Sweeps {
  static constexpr const char* name = "sweeps";
  template <class T>
  static Constrained<T> run(const Triple<T>& x_old, const Triple<T>& x_free,
                            const BondReference<double>& r, const Masses<double>& m,
                            double tolerance) {
    return constrained(x_old, x_free, ConstrainBySweeps<double>{r, m, tolerance});
  }
};
template <class Iteration>
Constrained<double> run(const Move& c, double tolerance) {
  return Iteration::run(c.x_old, c.x_free, c.reference, c.m, tolerance);
}

template <class Iteration>
class Shake : public ::testing::Test {
 protected:
  std::string named(const char* what) { return std::string(Iteration::name) + "_" + what; }
};
using Iterations = ::testing::Types<Newton, Sweeps>;
TYPED_TEST_SUITE(Shake, Iterations);

// At a tolerance of 1e-14 the coordinates (below 8 A) are as good as their roundings of 4e-16 allow
// after the 60 sweeps or so that it takes: each rounds them a few times.
TYPED_TEST(Shake, SolvesTheConstraintEquations) {
  Random random(2);
  Worst error(this->named("to_reference"));
  for_moves(random, 500, 0.2, [&](const Move& c) {
    const Constrained<double> r = run<TypeParam>(c, 1e-14);
    ASSERT_TRUE(r.converged);
    error.see((to_vector(r.x) - constrained_by_newton(c)).norm());
  });
  error.expect_below(1e-13);
}

// The law of the constraint force: it acts along the bonds of x_old. The displacement is then in
// the span of M^-1 J^T(x_old) and gives the molecule no momentum and no angular momentum, whether
// or not the iteration is at its end. Coordinates of 8 A are rounded to 4e-16, up to three times a
// sweep, in up to 30 sweeps.
TYPED_TEST(Shake, MovesAlongTheOldBonds) {
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
  along.expect_below(2e-14);
  momentum.expect_below(18 * 2e-14);
  angular.expect_below(18 * 2e-14);
}

// A displacement s n x r about a principal axis n through the centre of mass: the angular momentum
// about it, and nothing else, decides the angle, sin(theta) = s.
TYPED_TEST(Shake, TurnsByTheArcSine) {
  for_turns([](const Move& c, const Triple<double>& turned, double s) {
    if (s > 0.9) return;  // in the plane the sweeps do not find their way from there
    const Constrained<double> r = run<TypeParam>(c, 1e-14);
    // A length that is wrong by 1e-14 is an angle that is wrong by that over cos(theta), or more
    // where the iteration is slow.
    ASSERT_TRUE(r.converged);
    EXPECT_LT((to_vector(r.x) - to_vector(turned)).norm(), 3e-14 / (1 - s * s)) << "s = " << s;
  });
}

TYPED_TEST(Shake, LeavesARigidMoleculeAlone) {
  Random random(4);
  for_moves(random, 100, 0.0, [&](const Move& c) {
    const Constrained<double> r = run<TypeParam>(c, 1e-12);
    EXPECT_TRUE(r.converged);
    EXPECT_EQ(r.iterations, 1.0);
    EXPECT_LT((to_vector(r.x) - to_vector(c.x_old)).norm(), few_roundings(8.0));
  });
}

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
    const BondReference<double> reference = bond_reference(model);
    const Masses<double> m = masses(model);
    int mixed = 0, mixed_failures = 0;
    for (int n = 0; n < 300; ++n) {
      std::array<Triple<double>, lanes> x_old, x_free;
      for (int lane = 0; lane < lanes; ++lane) {
        x_old[lane] = random_molecule(model, random, 5.0);
        const double size = n % 3 == 0 ? 1.5 : random.log_uniform(1e-10, 0.2);
        x_free[lane] = x_old[lane] + random.triple(size);
      }
      const auto pack = TypeParam::run(pack_triples<double>(x_old), pack_triples<double>(x_free),
                                       reference, m, 1e-8);
      const Pack<double> converged = select(pack.converged, Pack<double>(1.0), Pack<double>(0.0));
      std::set<double> iterations, ends;
      for (int lane = 0; lane < lanes; ++lane) {
        const auto scalar = TypeParam::run(x_old[lane], x_free[lane], reference, m, 1e-8);
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

}  // namespace
}  // namespace tarn
