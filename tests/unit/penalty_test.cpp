#include "physics/penalty.hpp"

#include "core/pack.hpp"
#include "distorted_molecule.hpp"
#include "dual.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;

TEST(Penalty, VanishesAtTheReferenceGeometryOnly) {
  for_models([](const WaterModel& model) {
    const BondReference<double> r = bond_reference(model);
    const Triple<double> x = molecule_at_origin(model);
    const BondValues<double> g = constraint_values(bonds(x), r);
    // Sine, cosine and squares: a handful of roundings of r^2 < 3 A^2.
    for (double v : {g.oh1, g.oh2, g.hh}) EXPECT_NEAR(v, 0.0, 16 * kEpsilon);
    EXPECT_LT(penalty_energy(x, r, 100.0), 1e4 * 16 * 16 * kEpsilon * kEpsilon * 3);

    // All lengths times s: g = (s^2 - 1) r0^2 and V1 = omega^2/2 (s^2 - 1)^2 sum r0^4.
    const double s = 1.1, omega = 20.0;
    const Triple<double> y{s * x.o, s * x.h1, s * x.h2};
    const double f = s * s - 1;
    const BondValues<double> h = constraint_values(bonds(y), r);
    EXPECT_NEAR(h.oh1, f * r.oh2, 32 * kEpsilon);
    EXPECT_NEAR(h.oh2, f * r.oh2, 32 * kEpsilon);
    EXPECT_NEAR(h.hh, f * r.hh2, 32 * kEpsilon);
    const double energy = 0.5 * omega * omega * f * f * (2 * r.oh2 * r.oh2 + r.hh2 * r.hh2);
    EXPECT_NEAR(penalty_energy(y, r, omega), energy, energy * 2 * 40 * kEpsilon / f);
  });
}

// J u by duals of g and by J's definition; (J u).y = u.(J^T y). |d| < 1.9 A, |u|, |y| <= 1: two
// roundings of a difference, five of a dot product of magnitude 2 |d| |u| < 8.
TEST(Penalty, JacobianAndItsTransposed) {
  using D = Dual<long double, 9>;
  Random random(2);
  Worst product("jacobian"), transposed("jacobian_transposed");
  for_models([&](const WaterModel& model) {
    const BondReference<double> r = bond_reference(model);
    for (int n = 0; n < 1000; ++n) {
      const Triple<double> x = distorted_molecule(model, random), u = random.triple(1.0);
      const Vec3<double> w = random.in_ball(1.0);
      const BondValues<double> y{w.x, w.y, w.z};
      const Bonds<double> b = bonds(x);
      const BondValues<D> g = constraint_values(bonds(variables<D>(x)), r);
      Matrix39 jacobian;
      for (int k = 0; k < 9; ++k) jacobian.col(k) << g.oh1.d[k], g.oh2.d[k], g.hh.d[k];
      ASSERT_LT((jacobian - dense_jacobian(x)).norm(), 1e-17L);
      product.see((to_vector(apply_jacobian(b, u)) - jacobian * to_vector(u)).norm());
      transposed.see(
          (to_vector(apply_jacobian_transposed(b, y)) - jacobian.transpose() * to_vector(y))
              .norm());
    }
  });
  product.expect_below(7 * 8 * kEpsilon);
  transposed.expect_below(7 * 8 * kEpsilon);
}

// The value: a few roundings of g (r^2 < 4) beside |g| < 1. The force: those, times |J| < 8.
TEST(Penalty, ForceIsMinusTheGradientOfTheEnergy) {
  using D = Dual<long double, 9>;
  Random random(3);
  Worst energy("penalty_energy"), force("penalty_force");
  for_models([&](const WaterModel& model) {
    const BondReference<double> r = bond_reference(model);
    for (int n = 0; n < 1000; ++n) {
      const double omega = random.log_uniform(20, 1e4);
      const Triple<double> x = distorted_molecule(model, random);
      const D exact = penalty_energy(variables<D>(x), r, omega);
      energy.see((penalty_energy(x, r, omega) - exact.value) / (omega * omega));
      const std::array<double, 9> f = to_array(penalty_force(x, r, omega));
      for (int k = 0; k < 9; ++k) force.see((f[k] + exact.d[k]) / (omega * omega));
    }
  });
  energy.expect_below(20 * kEpsilon);
  force.expect_below(100 * kEpsilon);
}

// Where g = 0 the Hessian is omega^2 J^T J; elsewhere omega^2 sum g_c Hess g_c comes to it, with
// Hess g_c = 2 e_c e_c^T (x) I, whose norm is 4 sqrt 3 < 7. The coordinates of a rigid molecule are
// rounded, so that g is some 1e-15 there, and not 0.
TEST(Penalty, HessianIsGaussNewtonWhereTheBondsHold) {
  Random random(4);
  for_models([&](const WaterModel& model) {
    const BondReference<double> r = bond_reference(model);
    for (int n = 0; n < 20; ++n) {
      const double omega = random.log_uniform(20, 1e4), omega2 = omega * omega;
      const Triple<double> rigid = random_molecule(model, random, 1.0);
      const Matrix39 j = dense_jacobian(rigid);
      const Real g_rigid = dense_constraint(rigid, r).lpNorm<1>();
      EXPECT_LT(g_rigid, 1e-14L);
      EXPECT_LT((penalty_hessian(rigid, r, omega) / omega2 - j.transpose() * j).norm(),
                7 * g_rigid + 1e-16L);

      const Triple<double> bent = distorted_molecule(model, random);
      const Matrix39 k = dense_jacobian(bent);
      Matrix9 expected = k.transpose() * k;
      const Eigen::Matrix<Real, 3, 1> g = dense_constraint(bent, r);
      const int ends[3][3] = {{-1, 1, 0}, {-1, 0, 1}, {0, -1, 1}};
      for (int m = 0; m < 27; ++m) {
        const int c = m / 9, a = m / 3 % 3, b = m % 3;
        expected.block<3, 3>(3 * a, 3 * b) +=
            2 * g(c) * ends[c][a] * ends[c][b] * Eigen::Matrix<Real, 3, 3>::Identity();
      }
      EXPECT_LT((penalty_hessian(bent, r, omega) / omega2 - expected).norm(), 1e-16L);
      EXPECT_GT((penalty_hessian(bent, r, omega) / omega2 - k.transpose() * k).norm(), 1e-3L);
    }
  });
}

// Frequencies over omega of TIP3P, given with four decimals, and six modes without a frequency.
TEST(Penalty, NormalModes) {
  const WaterModel& model = kWaterModels[0];
  const double omega = 50.0;
  const Matrix9 hessian =
      penalty_hessian(molecule_at_origin(model), bond_reference(model), omega) / (omega * omega);
  const Matrix9 inverse_sqrt_mass =
      mass_matrix(masses(model)).diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  const VectorX modes = eigenvalues(inverse_sqrt_mass * hessian * inverse_sqrt_mass);
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(modes(k), 0.0L, 1e-14L);
  const double expected[3] = {1.1625, 1.9805, 4.5438};
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(std::sqrt(modes(6 + k)), expected[k], 5e-5);
  }
}

// The law: a rigid motion changes nothing, and the force neither pushes nor turns the molecule.
TEST(Penalty, IsInvariantToTranslationAndRotation) {
  Random random(5);
  Worst energy("penalty_motion"), force("penalty_total_force"), turning("penalty_torque");
  for_models([&](const WaterModel& model) {
    const BondReference<double> r = bond_reference(model);
    for (int n = 0; n < 1000; ++n) {
      const Triple<double> x = random_molecule(model, random, 0.0) + random.triple(0.1);
      const Triple<double> moved = RigidMotion::random(random, 1.0)(x);
      energy.see(penalty_energy(moved, r, 1.0) - penalty_energy(x, r, 1.0));
      energy.see(penalty_energy(exchange_hydrogens(x), r, 1.0) - penalty_energy(x, r, 1.0));
      const Vector9 f = to_vector(penalty_force(x, r, 1.0));
      force.see(total(f).norm());
      turning.see(torque(x, f).norm());
    }
  });
  // Lengths of moved atoms carry ten roundings; |g| and forces are below 2.
  energy.expect_below(40 * kEpsilon);
  force.expect_below(10 * kEpsilon);
  turning.expect_below(20 * kEpsilon);
}

// No reciprocal square root is in these formulas, so that a lane gives the bits of a scalar.
TEST(Penalty, PackGivesTheBitsOfScalars) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(6);
  for_models([&](const WaterModel& model) {
    const BondReference<double> r = bond_reference(model);
    for (int n = 0; n < 200; ++n) {
      std::array<Triple<double>, lanes> x;
      for (Triple<double>& t : x) t = distorted_molecule(model, random);
      const Triple<Pack<double>> pack = pack_triples<double>(x);
      const Triple<Pack<double>> force = penalty_force(pack, r, 100.0);
      const Pack<double> energy = penalty_energy(pack, r, 100.0);
      for (int lane = 0; lane < lanes; ++lane) {
        ASSERT_EQ(bits_of_triple(lane_of(force, lane)),
                  bits_of_triple(penalty_force(x[lane], r, 100.0)));
        ASSERT_EQ(bits_of_number(energy[lane]), bits_of_number(penalty_energy(x[lane], r, 100.0)));
      }
    }
  });
}

}  // namespace
}  // namespace tarn
