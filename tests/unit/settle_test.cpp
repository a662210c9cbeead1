#include "physics/settle.hpp"

#include "constraint_fixtures.hpp"
#include "core/pack.hpp"
#include "physics/shake.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

template <class T>
Triple<T> settled(const Triple<T>& x_old, const Triple<T>& x_free, const WaterModel& model) {
  return constrained(x_old, x_free,
                     ConstrainBySettle<double>{settle_parameters(model), masses(model)})
      .x;
}
Triple<double> settled(const Move& c) {
  return constrained(c.x_old, c.x_free, ConstrainBySettle<double>{c.settle, c.m}).x;
}

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

// Some 60 roundings of numbers below 2 A beside the final ones of coordinates of 8 A; projections
// onto the new axes divide by cos phi, cos psi > 0.8 at moves of 0.2 A.
TEST(Settle, SolvesTheConstraintEquations) {
  Random random(1);
  Worst error("settle_to_newton");
  for_moves(random, 1000, 0.2, [&](const Move& c) {
    error.see((to_vector(settled(c)) - constrained_by_newton(c)).norm());
  });
  error.expect_below(2e-14);
}

// Newton's last change is nothing but rounding, as above. The last sweep moves each of three bonds
// of up to 1.6 A by 1e-14 of itself; as each sweep leaves up to 0.7 of what it finds, some 2.3
// times that is left of each.
TEST(Settle, EqualsShake) {
  Random random(2);
  Worst sweeps("settle_to_shake_sweeps"), newton("settle_to_shake_newton");
  for_moves(random, 1000, 0.3, [&](const Move& c) {
    const Vector9 x = to_vector(settled(c));
    const auto s =
        constrained(c.x_old, c.x_free, ConstrainBySweeps<double>{c.reference, c.m, 1e-14});
    const auto n =
        constrained(c.x_old, c.x_free, ConstrainByNewton<double>{c.reference, c.m, 1e-14});
    ASSERT_TRUE(s.converged);
    ASSERT_TRUE(n.converged);
    sweeps.see((x - to_vector(s.x)).norm());
    newton.see((x - to_vector(n.x)).norm());
  });
  sweeps.expect_below(1e-13);
  newton.expect_below(2e-14);
}

// Coordinates of 8 A are rounded to 4e-16 each time that they are written.
TEST(Settle, HoldsTheLengthsAndTheLawsOfAConstraintForce) {
  Random random(3);
  Worst length2("settle_length2"), along("settle_off_span"), momentum("settle_momentum");
  Worst angular("settle_angular_momentum");
  for_moves(random, 1000, 0.3, [&](const Move& c) {
    const Triple<double> x = settled(c);
    length2.see(dense_constraint(x, c.reference).norm());
    const MoveLaws laws(c, x);
    along.see(laws.off_span);
    momentum.see(laws.momentum);
    angular.see(laws.angular_momentum);
  });
  length2.expect_below(2e-14);
  along.expect_below(1e-14);
  momentum.expect_below(18 * 1e-14);
  angular.expect_below(18 * 1e-14);
}

// sin(theta) = s, as for SHAKE; a rounding of s is one of the angle over cos(theta).
TEST(Settle, TurnsByTheArcSine) {
  for_turns([](const Move& c, const Triple<double>& turned, double s) {
    EXPECT_LT((to_vector(settled(c)) - to_vector(turned)).norm(),
              30 * kEpsilon / std::sqrt(1 - s * s))
        << "s = " << s;
  });
}

TEST(Settle, LeavesARigidMoleculeAlone) {
  Random random(4);
  Worst error("settle_rigid_unmoved");
  for_moves(random, 200, 0.0,
            [&](const Move& c) { error.see((to_vector(settled(c)) - to_vector(c.x_old)).norm()); });
  error.expect_below(1e-14);
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
    const auto s =
        constrained(c.x_old, c.x_free, ConstrainBySweeps<double>{c.reference, c.m, 1e-12});
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
  for (double v : to_array(settled(x, broken, model))) EXPECT_TRUE(std::isnan(v));
}

// A lane's bits do not depend on the other lanes, one of which may have no solution. Reciprocal
// square roots make lanes differ from scalars in the last bits.
TEST(Settle, LanesAreIndependent) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(7);
  Worst error("settle_pack_to_scalar");
  for (const WaterModel& model : kWaterModels) {
    for (int n = 0; n < 300; ++n) {
      std::array<Triple<double>, lanes> x_old, x_free;
      for (int lane = 0; lane < lanes; ++lane) {
        x_old[lane] = random_molecule(model, random, 5.0);
        x_free[lane] = x_old[lane] + random.triple(0.2);
      }
      if (n % 2 == 0) x_free[n % lanes].h1.x += 5.0;
      const auto pack = settled(pack_triples<double>(x_old), pack_triples<double>(x_free), model);
      for (int lane = 0; lane < lanes; ++lane) {
        std::array<Triple<double>, lanes> same_old, same_free;
        same_old.fill(x_old[lane]);
        same_free.fill(x_free[lane]);
        const auto alone =
            settled(pack_triples<double>(same_old), pack_triples<double>(same_free), model);
        const Triple<double> x = lane_of(pack, lane);
        if (std::isnan(x.o.x)) {
          ASSERT_TRUE(n % 2 == 0 && lane == n % lanes);
          ASSERT_TRUE(std::isnan(lane_of(alone, lane).o.x));
          continue;
        }
        ASSERT_EQ(bits_of_triple(x), bits_of_triple(lane_of(alone, lane)));
        error.see((to_vector(x) - to_vector(settled(x_old[lane], x_free[lane], model))).norm());
      }
    }
  }
  error.expect_below(2e-14);
}

}  // namespace
}  // namespace tarn
