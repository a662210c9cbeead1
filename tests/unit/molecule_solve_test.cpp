#include "physics/molecule_solve.hpp"

#include "core/pack.hpp"
#include "distorted_molecule.hpp"
#include "steps/step_parameters.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
using Vector3 = Eigen::Matrix<Real, 3, 1>;
using Matrix3 = Eigen::Matrix<Real, 3, 3>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A molecule, what acts on it and how it is integrated.
struct Case {
  Triple<double> x, f0;
  BondReference<double> reference;
  Masses<double> m;
  double bh2, omega;

  ZssParameters<double> parameters() const { return {1.0 / bh2, 1.0 / (bh2 * omega * omega)}; }
  Triple<double> acceleration() const {
    return zss_acceleration(x, f0, reference, m, parameters());
  }
  /// Total force and torque about the oxygen of inner forces.
  std::array<Real, 2> push_and_turn(const Vector9& inner) const {
    return {total(inner).norm(), torque({x.o - x.o, x.h1 - x.o, x.h2 - x.o}, inner).norm()};
  }
};

/// Bonds off by up to 0.05 A, forces as in a cluster, time steps of 0.2 to 5 fs.
Case random_case(const WaterModel& model, Random& random, double omega) {
  const double h = random.log_uniform(0.004, 0.1);
  return {random_molecule(model, random, 5.0) + random.triple(0.05),
          random.triple(50.0),
          bond_reference(model),
          masses(model),
          random.uniform(0.25, 0.5) * h * h,
          omega};
}

template <class F>
void for_cases(int n, std::vector<double> omegas, std::uint64_t seed, F f) {
  Random random(seed);
  for (const WaterModel& model : kWaterModels) {
    for (double omega : omegas) {
      SCOPED_TRACE(std::string(model.name) + ", omega " + std::to_string(omega));
      for (int k = 0; k < n; ++k) f(random_case(model, random, omega), random);
    }
  }
}

/// (M + b h^2 omega^2 J^T J) a = F0 - omega^2 J^T g, all nine unknowns at once. Its condition
/// number grows with omega, up to 1e7.
Vector9 dense_acceleration(const Case& c) {
  const Matrix39 j = dense_jacobian(c.x);
  const Real omega2 = Real(c.omega) * c.omega;
  const Matrix9 a = mass_matrix(c.m) + c.bh2 * omega2 * j.transpose() * j;
  const Vector9 rhs = to_vector(c.f0) - omega2 * j.transpose() * dense_constraint(c.x, c.reference);
  return solution(a, rhs);
}
/// The same with the multipliers as unknowns too, which has the limit of infinite omega:
/// M a + J^T y = F0, J a - y/(b h^2 omega^2) = -g/(b h^2).
std::pair<Vector9, Vector3> saddle_point(const Case& c) {
  const Matrix39 j = dense_jacobian(c.x);
  Eigen::Matrix<Real, 12, 12> a = Eigen::Matrix<Real, 12, 12>::Zero();
  a.topLeftCorner<9, 9>() = mass_matrix(c.m);
  a.topRightCorner<9, 3>() = j.transpose();
  a.bottomLeftCorner<3, 9>() = j;
  a.bottomRightCorner<3, 3>() = -1 / (c.bh2 * Real(c.omega) * c.omega) * Matrix3::Identity();
  Eigen::Matrix<Real, 12, 1> rhs;
  rhs << to_vector(c.f0), -dense_constraint(c.x, c.reference) / c.bh2;
  const VectorX s = solution(a, rhs);
  return {s.head<9>(), s.tail<3>()};
}

/// What a rounding of the squared lengths (below 4 A^2, four roundings) does to an acceleration:
/// M^-1 J^T S^-1 times g/(b h^2), where |M^-1 J^T S^-1| < 0.7/A.
double rounding_of_g(const Case& c) { return 0.7 * 4 * 4 * kEpsilon / c.bh2; }

// J M^-1 J^T of a water molecule has a condition number of 15, and the solution by cofactors loses
// that much of some 40 roundings: 600 units, 7e-14, relative to the largest of the terms.
TEST(SolveBonds, EqualsTheDenseSolve) {
  Worst error("solve_bonds_relative");
  for_cases(500, {20.0, 1e4, kInfinity}, 1, [&](const Case& c, Random& random) {
    const Vector3 r = to_vector(random.in_ball(1.0));
    const double shift = c.parameters().inverse_bh2w2;
    const Matrix39 j = dense_jacobian(c.x);
    const Matrix3 s = shift * Matrix3::Identity() + j * inverse_mass_matrix(c.m) * j.transpose();
    const BondValues<double> right{double(r(0)), double(r(1)), double(r(2))};
    const Vector3 exact = solution(s, to_vector(right));
    const BondValues<double> y = solve_bonds(bonds(c.x), c.m, shift, right);
    error.see((to_vector(y) - exact).norm() / exact.norm());
  });
  error.expect_below(600 * kEpsilon);
}

// 1e-12 leaves room for the condition of the nine unknowns in long double, 1e7 2^-64 = 5e-13. The
// saddle point also has y, at an infinite omega too; |S^-1| < 0.25 Da/A^2 takes the roundings of g
// to y.
TEST(ZssAcceleration, EqualsTheDenseSolveAndTheSaddlePoint) {
  Worst dense("zss_relative_to_dense"), bond_solution("bond_solution_over_rounding");
  Worst error("zss_relative_to_saddle"), to_rounding("zss_over_rounding");
  for_cases(300, {20.0, 100.0, 500.0, 1e4, kInfinity}, 3, [&](const Case& c, Random&) {
    const auto [exact, exact_y] = saddle_point(c);
    const Vector9 found = to_vector(c.acceleration());
    if (c.omega < kInfinity) dense.see((found - dense_acceleration(c)).norm() / exact.norm());
    const Real difference = (found - exact).norm();
    error.see(difference / exact.norm());
    to_rounding.see(difference / (600 * kEpsilon * exact.norm() + rounding_of_g(c)));
    const auto b = bonds(c.x);
    const auto y =
        zss_bond_solution(b, c.f0, constraint_values(b, c.reference), c.m, c.parameters());
    bond_solution.see((to_vector(y) - exact_y).norm() /
                      (600 * kEpsilon * exact_y.norm() + 0.25 * 4 * 4 * kEpsilon / c.bh2));
  });
  dense.expect_below(1e-12);
  bond_solution.expect_below(1.0);
  error.expect_below(1e-12);
  to_rounding.expect_below(1.0);
}

// g is quadratic, and J a = -g/(b h^2): the pushed-back position q = x + b h^2 a has exactly
// g(q) = (b h^2)^2 |d(a)|^2, d(a) the difference of a along the bond.
TEST(ZssAcceleration, PushesBackOntoTheConstraintsWhereOmegaIsInfinite) {
  Worst error("pushed_back_constraint");
  for_cases(300, {kInfinity}, 4, [&](const Case& c, Random&) {
    const Triple<double> a = c.acceleration(), q = fma(c.bh2, a, c.x);
    const BondValues<double> g = constraint_values(bonds(q), c.reference);
    const BondValues<double> d2 = bonds(a).length2;
    const double k = c.bh2 * c.bh2;
    for (const auto& [found, expected] :
         {std::pair(g.oh1, k * d2.oh1), std::pair(g.oh2, k * d2.oh2), std::pair(g.hh, k * d2.hh)}) {
      error.see(found - expected);
    }
  });
  // Coordinates up to 6 A, lengths below 2 A: q has a rounding of 6 units, g some 4 times that for
  // each of its six coordinates, and the roundings of J (b h^2 a), of order g < 0.4, beside it.
  error.expect_below(200 * kEpsilon);
}

// M a - F0 = J^T lambda is an inner force: it neither pushes nor turns.
TEST(ZssAcceleration, BondsAddNoForceAndNoTorque) {
  Worst force("zss_total_force"), turning("zss_torque");
  for_cases(300, {20.0, 100.0, 1e4, kInfinity}, 5, [&](const Case& c, Random&) {
    const Vector9 ma = mass_matrix(c.m) * to_vector(c.acceleration());
    const Real scale = ma.norm() + to_vector(c.f0).norm();
    const auto [push, turn] = c.push_and_turn(ma - to_vector(c.f0));
    force.see(push / scale);
    turning.see(turn / scale);
  });
  // Six roundings of each of nine forces, arms of 1 A.
  force.expect_below(20 * kEpsilon);
  turning.expect_below(40 * kEpsilon);
}

// lambda = -y: the multipliers of the dense solve, and M a = F0 + J^T lambda. They are a difference
// of g and b h^2 J a, of which each is rounded, times omega^2.
TEST(ZssMultipliers, EqualThoseOfTheSolve) {
  Worst to_dense("multipliers_over_rounding"), balance("multiplier_balance_over_rounding");
  Worst relative("multipliers_relative_at_omega_500");
  for_cases(300, {20.0, 100.0, 500.0, 1e4}, 6, [&](const Case& c, Random&) {
    const Triple<double> a = c.acceleration();
    const Vector3 lambda = to_vector(zss_multipliers(c.x, a, c.reference, c.bh2, c.omega));
    const Matrix39 j = dense_jacobian(c.x);
    const Vector3 y = saddle_point(c).second;
    // g: roundings of r^2 < 4; b h^2 J a: relative to itself, as it was solved for.
    const Real rounding =
        c.omega * c.omega * kEpsilon * (16 + 600 * c.bh2 * (j.norm() * to_vector(a).norm()));
    to_dense.see((lambda + y).norm() / rounding);
    balance.see(
        (mass_matrix(c.m) * to_vector(a) - to_vector(c.f0) - j.transpose() * lambda).norm() /
        (j.norm() * rounding));
    if (c.omega <= 500.0) relative.see((lambda + y).norm() / y.norm());
  });
  to_dense.expect_below(1.0);
  balance.expect_below(1.0);
  // Good enough for multipliers.csv at the omega that is advised for it.
  relative.expect_below(1e-9);
}

// --- the full Hessian ---------------------------------------------------------------------------

/// The Hessian of the penalty over omega^2, J^T J + sum g_c Hess g_c.
Matrix9 dense_hessian(const Case& c) { return penalty_hessian(c.x, c.reference, 1.0); }
FullAcceleration<double> full_acceleration(const Case& c) {
  return zss_full_acceleration(c.x, c.f0, c.reference, c.m, c.parameters());
}

// (M + b h^2 H) a = F0 - omega^2 J^T g with all of H. Where some eigenvalue of the matrix is not
// positive it must be said; next to such places the solution has no digits, so that the error is
// measured against the condition of the matrix, scaled by the masses.
TEST(ZssFullAcceleration, EqualsTheDenseSolveWhereItIsDefinite) {
  Worst to_rounding("zss_full_over_rounding"), definite("zss_full_relative");
  int indefinite = 0, solved = 0;
  for_cases(200, {20.0, 50.0, 100.0, 500.0}, 11, [&](const Case& c, Random&) {
    const Real omega2 = Real(c.omega) * c.omega;
    const Matrix9 scale = mass_matrix(c.m).diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
    const Matrix9 a = mass_matrix(c.m) + c.bh2 * omega2 * dense_hessian(c);
    const FullAcceleration<double> r = full_acceleration(c);
    const Real lowest = eigenvalues(scale * a * scale)(0);
    if (std::fabs(lowest) < 1e-6L) return;  // no number of double says on which side it is
    ASSERT_EQ(r.definite, lowest > 0);
    if (!r.definite) {
      ++indefinite;
      return;
    }
    ++solved;
    const Vector9 rhs = to_vector(c.f0) - omega2 * dense_jacobian(c.x).transpose() *
                                              dense_constraint(c.x, c.reference);
    const Vector9 exact = solution(a, rhs);
    const Real difference = (to_vector(r.a) - exact).norm();
    // D has roundings of g times 2 b h^2 omega^2, and its inverse 1/lowest at most.
    const Real d_rounding = 16 * kEpsilon * (1 + 2 * c.bh2 * omega2) / lowest;
    to_rounding.see(difference / ((600 * kEpsilon + 10 * d_rounding) * exact.norm() / lowest +
                                  rounding_of_g(c) / lowest));
    if (lowest > 0.5L && c.bh2 * omega2 < 10) definite.see(difference / exact.norm());
  });
  to_rounding.expect_below(1.0);
  definite.expect_below(1e-12);
  EXPECT_GT(indefinite, 100);
  EXPECT_GT(solved, 1000);
}

// lambda = -omega^2 (g + b h^2 J a) here too, but M a = F0 + J^T lambda lacks the curvature of the
// constraints, which joins the masses.
TEST(ZssFullAcceleration, HasItsOwnBalanceOfMultipliers) {
  Worst balance("full_multiplier_balance_over_rounding");
  int clear = 0;
  for_cases(300, {20.0, 50.0, 100.0}, 15, [&](const Case& c, Random&) {
    const FullAcceleration<double> r = full_acceleration(c);
    const Real omega2 = Real(c.omega) * c.omega;
    const Matrix39 j = dense_jacobian(c.x);
    const Matrix9 curvature = c.bh2 * omega2 * (dense_hessian(c) - j.transpose() * j);
    const Matrix9 d = mass_matrix(c.m) + curvature;
    if (!r.definite || eigenvalues(d)(0) < 0.5L) return;
    const Vector3 lambda = to_vector(zss_multipliers(c.x, r.a, c.reference, c.bh2, c.omega));
    const Vector9 ma = mass_matrix(c.m) * to_vector(r.a);
    const Vector9 forces = to_vector(c.f0) + j.transpose() * lambda;
    // As with Gauss-Newton; D loses a digit or two more where it is small.
    const Real rounding = j.norm() * c.omega * c.omega * kEpsilon *
                          (16 + 6000 * c.bh2 * (j.norm() * to_vector(r.a).norm()));
    balance.see((ma + curvature * to_vector(r.a) - forces).norm() / rounding);
    if ((curvature * to_vector(r.a)).norm() > 1000 * rounding) ++clear;
  });
  balance.expect_below(1.0);
  EXPECT_GT(clear, 100);  // the term is no rounding
}

// Where the bonds hold, g = 0, the full Hessian is that of Gauss-Newton.
TEST(ZssFullAcceleration, IsGaussNewtonWhereTheBondsHold) {
  Worst error("zss_full_to_gauss_newton");
  for_cases(200, {20.0, 100.0}, 12, [&](Case c, Random& random) {
    const WaterModel& model = kWaterModels[0];
    c.reference = bond_reference(model);
    c.x = random_molecule(model, random, 1.0);
    const FullAcceleration<double> full = full_acceleration(c);
    ASSERT_TRUE(full.definite);
    const Vector9 a = to_vector(c.acceleration());
    // |g| < 1e-14 remains of the roundings of x.
    error.see((to_vector(full.a) - a).norm() / a.norm() / (1 + 2 * c.bh2 * c.omega * c.omega));
  });
  error.expect_below(1e-13);
}

// The columns of D add up to the masses: momentum is kept to rounding. Angular momentum is not: the
// curvature of the constraints acts on each component of a alone.
TEST(ZssFullAcceleration, KeepsMomentumAndNotAngularMomentum) {
  Worst force("zss_full_total_force"), turning("zss_full_torque");
  for_cases(100, {20.0}, 13, [&](Case c, Random&) {
    c.bh2 = 0.42 * 0.05 * 0.05;
    const FullAcceleration<double> r = full_acceleration(c);
    if (!r.definite) return;
    const Vector9 ma = mass_matrix(c.m) * to_vector(r.a);
    const Real scale = ma.norm() + to_vector(c.f0).norm();
    const auto [push, turn] = c.push_and_turn(ma - to_vector(c.f0));
    force.see(push / scale);
    turning.see(turn / scale);
  });
  force.expect_below(40 * kEpsilon);
  turning.expect_between(1e-3, 1.0);
}

// --- velocities ---------------------------------------------------------------------------------

TEST(ProjectVelocities, IsTheOrthogonalProjectionOntoJvZero) {
  Worst tangent("projected_jv"), dense("projected_to_dense"), again("projected_twice");
  Worst orthogonal("projected_orthogonal"), momentum("projected_momentum");
  Worst angular("projected_angular_momentum");
  for_cases(300, {100.0}, 7, [&](const Case& c, Random& random) {
    const Triple<double> v = random.triple(1.0);
    const Triple<double> p = project_velocities(c.x, v, c.m);
    const Matrix39 j = dense_jacobian(c.x);
    const Matrix9 mass = mass_matrix(c.m), inverse = inverse_mass_matrix(c.m);
    const Vector9 exact =
        to_vector(v) -
        inverse * j.transpose() * solution(j * inverse * j.transpose(), j * to_vector(v));
    const Vector9 q = to_vector(p), removed = to_vector(v) - q;
    dense.see((q - exact).norm());
    tangent.see((j * q).norm());
    again.see((to_vector(project_velocities(c.x, p, c.m)) - q).norm());
    orthogonal.see(removed.dot(mass * q));
    const auto [push, turn] = c.push_and_turn(mass * removed);
    momentum.see(push);
    angular.see(turn);
    // Never more kinetic energy than before.
    EXPECT_LE(q.dot(mass * q), to_vector(v).dot(mass * to_vector(v)));
  });
  // Velocities of 1 A/akma; the solve as above. |J| < 8, a molecule weighs 18 Da.
  dense.expect_below(300 * kEpsilon);
  tangent.expect_below(8 * 300 * kEpsilon);
  again.expect_below(300 * kEpsilon);
  orthogonal.expect_below(18 * 300 * kEpsilon);
  momentum.expect_below(18 * 10 * kEpsilon);
  angular.expect_below(18 * 10 * kEpsilon);
}

// What is projected off forces, as forces, is what is projected off the accelerations they make.
// The forces of a change of s and d sum to nothing, and give that change.
TEST(AddForces, GiveTheChangeAndNoMomentum) {
  Worst change("added_change"), momentum("added_momentum"), projected("projected_forces");
  for_cases(300, {100.0}, 16, [&](const Case& c, Random& random) {
    const JacobiVectors<double> a{random.in_ball(1.0), random.in_ball(1.0)};
    const Vec3<double> zero{0.0, 0.0, 0.0};
    const Triple<double> f = add_forces(1.0, a, c.m, Triple<double>{zero, zero, zero});
    const auto accelerations = [&](const Triple<double>& of) {
      return scale(c.m.inverse_o, c.m.inverse_h, of);
    };
    const JacobiVectors<double> again = jacobi_vectors(accelerations(f)) - a;
    change.see(std::sqrt(norm2(again.s) + norm2(again.d)));
    momentum.see(std::sqrt(norm2(f.o + f.h1 + f.h2)));
    const JacobiVectors<double> x = jacobi_vectors(c.x);
    const Triple<double> rest =
        add_forces(-1.0, part_along_bonds(x, jacobi_vectors(accelerations(c.f0)), c.m), c.m, c.f0);
    projected.see((to_vector(accelerations(rest)) -
                   to_vector(project_velocities(c.x, accelerations(c.f0), c.m)))
                      .norm());
  });
  // Accelerations of 1, and of 50/m_H; a molecule weighs 18 Da.
  change.expect_below(10 * kEpsilon);
  momentum.expect_below(18 * kEpsilon);
  projected.expect_below(50 * 100 * kEpsilon);
}

// What a rigid body does is left alone: v = u + w x r.
TEST(ProjectVelocities, KeepsRigidMotion) {
  Worst error("projected_rigid_motion");
  for_cases(300, {100.0}, 8, [&](const Case& c, Random& random) {
    const Vec3<double> u = random.in_ball(1.0), w = random.in_ball(1.0);
    const auto at = [&](const Vec3<double>& x) { return u + cross(w, x - c.x.o); };
    const Triple<double> v{at(c.x.o), at(c.x.h1), at(c.x.h2)};
    error.see((to_vector(project_velocities(c.x, v, c.m)) - to_vector(v)).norm());
  });
  error.expect_below(300 * kEpsilon);
}

// Where the bonds hold, the constant matrix of SETTLE gives the same.
TEST(ProjectVelocities, WithAConstantMatrixWhereTheBondsHold) {
  Random random(15);
  Worst error("projected_rigid_to_general");
  for (const WaterModel& model : kWaterModels) {
    const Masses<double> m = masses(model);
    const SettleParameters<double> settle = settle_parameters(model);
    for (int k = 0; k < 300; ++k) {
      const Triple<double> x = random_molecule(model, random, 5.0), v = random.triple(1.0);
      error.see((to_vector(project_velocities(jacobi_vectors(x), v, m, settle)) -
                 to_vector(project_velocities(x, v, m)))
                    .norm());
    }
  }
  // Velocities of 1 A/akma; coordinates of 5 A are good to 4e-16, of bonds of 1 A.
  error.expect_below(300 * kEpsilon);
}

// --- packs --------------------------------------------------------------------------------------

// There is no reciprocal square root in these formulas: a lane gives the bits of a scalar.
TEST(MoleculeSolvePack, GivesTheBitsOfScalars) {
  constexpr int lanes = Pack<double>::lanes;
  for_cases(50, {20.0, 500.0, kInfinity}, 9, [&](const Case& c, Random& random) {
    std::array<Triple<double>, lanes> x, f0;
    for (int lane = 0; lane < lanes; ++lane) {
      x[lane] = c.x + random.triple(0.02);
      f0[lane] = random.triple(50.0);
    }
    const auto px = pack_triples<double>(x), pf = pack_triples<double>(f0);
    const auto a = zss_acceleration(px, pf, c.reference, c.m, c.parameters());
    const auto v = project_velocities(px, pf, c.m);
    ZssParameters<double> soft = c.parameters();
    soft.inverse_bh2w2 = std::max(soft.inverse_bh2w2, 1e-4);
    const auto full = zss_full_acceleration(px, pf, c.reference, c.m, soft);
    const Pack<double> definite = select(full.definite, Pack<double>(1.0), Pack<double>(0.0));
    for (int lane = 0; lane < lanes; ++lane) {
      ASSERT_EQ(
          bits_of_triple(lane_of(a, lane)),
          bits_of_triple(zss_acceleration(x[lane], f0[lane], c.reference, c.m, c.parameters())));
      ASSERT_EQ(bits_of_triple(lane_of(v, lane)),
                bits_of_triple(project_velocities(x[lane], f0[lane], c.m)));
      const auto scalar = zss_full_acceleration(x[lane], f0[lane], c.reference, c.m, soft);
      ASSERT_EQ(definite[lane] != 0.0, scalar.definite);
      ASSERT_EQ(bits_of_triple(lane_of(full.a, lane)), bits_of_triple(scalar.a));
    }
  });
}

// In float the same bounds hold with float's roundings, and so does the promise of 1e-4 for bonds
// that are off as little as in a simulation.
TEST(MoleculeSolvePack, FloatsAreAsGoodAsFloatsCanBe) {
  constexpr int lanes = Pack<float>::lanes;
  Worst to_rounding("zss_float_over_rounding"), relative("zss_float_relative");
  for_cases(100, {20.0, 100.0, 500.0, kInfinity}, 10, [&](Case c, Random& random) {
    c.bh2 = 0.42 * 0.05 * 0.05;
    c.x = {{0, 0, 0}, c.x.h1 - c.x.o, c.x.h2 - c.x.o};
    std::array<Triple<double>, lanes> x, f0;
    for (int lane = 0; lane < lanes; ++lane) {
      x[lane] = c.x + random.triple(0.01);
      f0[lane] = c.f0;
    }
    StepParameters step{};
    step.bonds = c.reference;
    step.masses = c.m;
    step.zss = c.parameters();
    const StepNumbers<float> q = rounded_to_float(step);
    const auto a =
        zss_acceleration(pack_triples<float>(x), pack_triples<float>(f0), q.bonds, q.masses, q.zss);
    for (int lane = 0; lane < lanes; ++lane) {
      Case d = c;
      d.x = x[lane];
      const Vector9 exact = to_vector(d.acceleration());
      const std::array<float, 9> found = to_array(lane_of(a, lane));
      const Vector9 numbers =
          Eigen::Map<const Eigen::Matrix<float, 9, 1>>(found.data()).cast<Real>();
      const Real difference = (numbers - exact).norm(), norm = exact.norm();
      // Coordinates are rounded to float here, which counts as roundings of g.
      to_rounding.see(difference / (600 * kFloatEpsilon * norm +
                                    3 * rounding_of_g(c) / kEpsilon * kFloatEpsilon));
      relative.see(difference / norm);
    }
  });
  to_rounding.expect_between(1e-3, 1.0);
  relative.expect_between(kFloatEpsilon, 1e-4);
}

}  // namespace
}  // namespace tarn
