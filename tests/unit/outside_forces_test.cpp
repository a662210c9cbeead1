#include "core/pack.hpp"
#include "dual.hpp"
#include "physics/bias.hpp"
#include "steps/step_parameters.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
constexpr OutsideForces<double> kWall{6.3, 10.0, {}};

/// A vector of that length in a random direction.
Vec3<double> at_distance(Random& random, double r) {
  for (;;) {
    const Vec3<double> u = random.in_ball(1.0);
    const double n = std::sqrt(norm2(u));
    if (n > 0.1) return (r / n) * u;
  }
}

TEST(Wall, IsFlatInsideAndQuadraticOutside) {
  Random random(1);
  for (int n = 0; n < 1000; ++n) {
    const Vec3<double> in = at_distance(random, random.uniform(0, 6.29));
    EXPECT_EQ(wall_energy(in, kWall), 0.0);
    const Vec3<double> f = wall_force(in, kWall);
    EXPECT_TRUE(f.x == 0.0 && f.y == 0.0 && f.z == 0.0);

    // r of 20 A has a rounding of 2e-15, and so has r - R.
    const double r = random.uniform(6.31, 20.0);
    const Vec3<double> out = at_distance(random, r);
    const double beyond = r - kWall.radius;
    EXPECT_NEAR(wall_energy(out, kWall), 0.5 * 10 * beyond * beyond, 10 * beyond * 1e-14);
    const Vec3<double> g = wall_force(out, kWall);
    EXPECT_NEAR(std::sqrt(norm2(g)), 10 * beyond, 10 * 1e-14 + 10 * beyond * 1e-15);
    // Towards the centre.
    EXPECT_NEAR(dot(g, out), -10 * beyond * r, 10 * r * 1e-14 + 10 * beyond * r * 1e-15);
  }
  const Vec3<double> centre{0, 0, 0};
  EXPECT_EQ(wall_energy(centre, kWall), 0.0);
  EXPECT_EQ(wall_force(centre, kWall).x, 0.0);
  // The force is continuous at the wall: it starts from 0 with the slope K.
  for (double beyond : {1e-3, 1e-6, 1e-9}) {
    const Vec3<double> f = wall_force(Vec3<double>{kWall.radius + beyond, 0, 0}, kWall);
    EXPECT_NEAR(f.x, -10 * beyond, 10 * 4e-15);
  }
}

// r - R cancels: a rounding of r, 1e-15 A, is one of the force times the stiffness.
TEST(Wall, ForceIsMinusTheGradientOfTheEnergy) {
  using D = Dual<long double, 3>;
  Random random(2);
  Worst error("wall_gradient");
  for (int n = 0; n < 2000; ++n) {
    const Vec3<double> r = at_distance(random, random.uniform(5.0, 12.0));
    const D energy =
        wall_energy(Vec3<D>{D::variable(r.x, 0), D::variable(r.y, 1), D::variable(r.z, 2)}, kWall);
    const Vec3<double> f = wall_force(r, kWall);
    error.see(f.x + energy.d[0]);
    error.see(f.y + energy.d[1]);
    error.see(f.z + energy.d[2]);
  }
  error.expect_below(10 * 12 * 8 * kEpsilon);
}

TEST(Wall, PackAgreesWithScalars) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(3);
  Worst force("wall_pack_force");
  for (int n = 0; n < 500; ++n) {
    std::array<Triple<double>, lanes> x;
    for (Triple<double>& t : x) t = random.triple(15.0);
    const Vec3<Pack<double>> r = pack_triples<double>(x).o;
    const Vec3<Pack<double>> f = wall_force(r, kWall);
    const Pack<double> energy = wall_energy(r, kWall);
    for (int lane = 0; lane < lanes; ++lane) {
      ASSERT_EQ(bits_of_number(energy[lane]), bits_of_number(wall_energy(x[lane].o, kWall)));
      // rsqrt is allowed two units in the last place.
      const Vec3<double> d = lane_of(f, lane) - wall_force(x[lane].o, kWall);
      force.see(std::sqrt(norm2(d)));
    }
  }
  force.expect_below(10 * 15 * 8 * kEpsilon);
}

/// The field is linear in the positions: its energy is -E.mu with the charges of the atoms, and its
/// forces add up to zero.
TEST(Field, ActsOnTheDipoleMoment) {
  Random random(5);
  WaterModel model = *find_water_model("tip4p2005");
  set_field_V_per_nm({0.3, -2.0, 10.0}, model);
  // One volt per nanometre: CODATA's charge, Avogadro constant and 4184 J.
  EXPECT_NEAR(model.field_kcal_per_mol_e_A[2], 23.06054783, 1e-8);
  System system;
  system.model = model;
  const OutsideForces<double> o = outside_forces(system);
  Worst error("field");
  for (int n = 0; n < 200; ++n) {
    const Triple<double> x = random.triple(10.0);
    // Charges of H, and of M at r_O + w (r_H1 + r_H2 - 2 r_O).
    const double h = model.charge_h_e, w = model.m_site_weight();
    const Vec3<double> m = x.o + w * ((x.h1 - x.o) + (x.h2 - x.o));
    const Vec3<double> moment = h * (x.h1 + x.h2) - 2.0 * h * m;
    const auto& e = model.field_kcal_per_mol_e_A;
    error.see(field_energy(x, o) + dot(Vec3<double>{e[0], e[1], e[2]}, moment));
    const Vec3<double> zero{0.0, 0.0, 0.0};
    const Triple<double> f = with_field(Triple<double>{zero, zero, zero}, o);
    EXPECT_NEAR(norm2(f.o + f.h1 + f.h2), 0.0, 1e-28);
    const Triple<double> step = random.triple(1.0);
    error.see(field_energy(x + step, o) - field_energy(x, o) + dot(f.o, step.o) +
              dot(f.h1, step.h1) + dot(f.h2, step.h2));
  }
  // Charges of 0.6 e at 20 A in 25 kcal/mol/e/A.
  error.expect_below(20 * 0.6 * 20 * 25 * kEpsilon);
}

TEST(MassMoment, IsTheMassTimesTheCentreOfMass) {
  Random random(4);
  const Masses<double> m = masses(kWaterModels[0]);
  Worst error("mass_moment");
  for (int n = 0; n < 200; ++n) {
    const Triple<double> x = random.triple(10.0);
    error.see((to_vector(mass_moment(x, m)) - total(mass_matrix(m) * to_vector(x))).norm());
  }
  // 18 Da at 10 A, four roundings.
  error.expect_below(4 * 180 * kEpsilon);
}

}  // namespace
}  // namespace tarn
