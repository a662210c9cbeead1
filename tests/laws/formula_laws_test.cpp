// Laws of many formulas, and relations between formulas.

#include "constraint_fixtures.hpp"
#include "core/pack.hpp"
#include "dual.hpp"
#include "physics/molecule_solve.hpp"
#include "physics/noise.hpp"
#include "physics/pair_force.hpp"
#include "physics/settle.hpp"
#include "physics/shake.hpp"
#include "water_fixtures.hpp"
#include "worst.hpp"

namespace tarn {
namespace {

using namespace test;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kOmega = 100.0;

/// Parameters of a model for the formulas.
struct Numbers {
  BondReference<double> bonds;
  Masses<double> masses;
  SettleParameters<double> settle;
  ZssParameters<double> zss;

  explicit Numbers(const WaterModel& model)
      : bonds(bond_reference(model)),
        masses(tarn::masses(model)),
        settle(settle_parameters(model)) {
    IntegratorSpec s;
    s.timestep_akma = 0.05;
    s.omega = kOmega;
    zss = zss_parameters(s);
  }
};

// Every formula of one molecule as f(x, u), with x a rigid molecule and u a vector per atom: a
// force, a velocity or a displacement.
#define TARN_FORMULA(name, ...)                                                      \
  struct name {                                                                      \
    static constexpr const char* label = #name;                                      \
    template <class T>                                                               \
    static Triple<T> run(const Numbers& c, const Triple<T>& x, const Triple<T>& u) { \
      return __VA_ARGS__;                                                            \
    }                                                                                \
  }
TARN_FORMULA(PenaltyForce, penalty_force(x + u, c.bonds, 1.0));
TARN_FORMULA(ZssAcceleration, zss_acceleration(x, u, c.bonds, c.masses, c.zss));
TARN_FORMULA(ZssAccelerationBent, zss_acceleration(x + u, u, c.bonds, c.masses, c.zss));
TARN_FORMULA(ZssFullAcceleration, zss_full_acceleration(x, u, c.bonds, c.masses, c.zss).a);
TARN_FORMULA(ProjectVelocities, project_velocities(x, u, c.masses));
TARN_FORMULA(ShakeNewton,
             constrained(x, x + u, ConstrainByNewton<double>{c.bonds, c.masses, 1e-13}).x - x);
TARN_FORMULA(ShakeSweeps,
             constrained(x, x + u, ConstrainBySweeps<double>{c.bonds, c.masses, 1e-13}).x - x);
TARN_FORMULA(Settle, constrained(x, x + u, ConstrainBySettle<double>{c.settle, c.masses}).x - x);
TARN_FORMULA(ProjectRigidVelocities, project_velocities(jacobi_vectors(x), u, c.masses, c.settle));
#undef TARN_FORMULA

template <class Formula>
class Formulas : public ::testing::Test {};
using AllFormulas =
    ::testing::Types<PenaltyForce, ZssAcceleration, ZssAccelerationBent, ZssFullAcceleration,
                     ProjectVelocities, ProjectRigidVelocities, ShakeNewton, ShakeSweeps, Settle>;
TYPED_TEST_SUITE(Formulas, AllFormulas);

// Turned and moved molecules give turned results, exchanged hydrogens exchanged ones. Coordinates
// below 2 A, displacements below 0.1 A: |d|^2 has a dozen roundings of 2e-16 by way of the moved
// coordinates, which 1/(b h^2) = 1000 makes 2e-12 in accelerations. The sweeps leave 1e-13.
TYPED_TEST(Formulas, KnowNoPlaceNoDirectionAndNoLabel) {
  Random random(1);
  Worst motion_error(std::string(TypeParam::label) + "_motion");
  Worst exchange_error(std::string(TypeParam::label) + "_exchange");
  for_models([&](const WaterModel& model) {
    const Numbers c(model);
    for (int n = 0; n < 300; ++n) {
      const Triple<double> x = random_molecule(model, random, 1.0), u = random.triple(0.1);
      const RigidMotion motion = RigidMotion::random(random, 1.0);
      const Triple<double> r = TypeParam::run(c, x, u);
      const Real scale = 1 + to_vector(r).norm();
      motion_error.see(
          (to_vector(TypeParam::run(c, motion(x), motion.turn(u))) - to_vector(motion.turn(r)))
              .norm() /
          scale);
      exchange_error.see(
          (to_vector(TypeParam::run(c, exchange_hydrogens(x), exchange_hydrogens(u))) -
           to_vector(exchange_hydrogens(r)))
              .norm() /
          scale);
    }
  });
  motion_error.expect_below(3e-12);
  exchange_error.expect_below(3e-12);
}

// A molecule has the same bits in any lane and with any neighbours: the formulas do not depend on
// the batch.
TYPED_TEST(Formulas, LanesAreIndependent) {
  constexpr int lanes = Pack<double>::lanes;
  Random random(2);
  for_models([&](const WaterModel& model) {
    const Numbers c(model);
    for (int n = 0; n < 100; ++n) {
      std::array<Triple<double>, lanes> x, u;
      for (int lane = 0; lane < lanes; ++lane) {
        x[lane] = random_molecule(model, random, 5.0);
        u[lane] = random.triple(random.log_uniform(1e-6, 0.1));
      }
      const auto r = TypeParam::run(c, pack_triples<double>(x), pack_triples<double>(u));
      std::rotate(x.begin(), x.begin() + 1, x.end());
      std::rotate(u.begin(), u.begin() + 1, u.end());
      // Other neighbours for all, and one without work.
      x[lanes - 1] = molecule_at_origin(model);
      u[lanes - 1] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
      const auto s = TypeParam::run(c, pack_triples<double>(x), pack_triples<double>(u));
      for (int lane = 1; lane < lanes; ++lane) {
        ASSERT_EQ(bits_of_triple(lane_of(r, lane)), bits_of_triple(lane_of(s, lane - 1)));
      }
    }
  });
}

// --- ties between formulas

// Where the bonds hold and omega is infinite, the acceleration of Z&Ss is that of the constrained
// system, M^-1 F0 projected onto the tangent space.
TEST(FormulaTies, InfinitePenaltyIsTheConstrainedAcceleration) {
  Random random(3);
  Worst error("zss_infinite_to_projection");
  for_models([&](const WaterModel& model) {
    Numbers c(model);
    c.zss.inverse_bh2w2 = 0.0;
    for (int n = 0; n < 300; ++n) {
      const Triple<double> x = random_molecule(model, random, 0.0), f = random.triple(50.0);
      const Triple<double> free = scale(c.masses.inverse_o, c.masses.inverse_h, f);
      const Vector9 a = to_vector(zss_acceleration(x, f, c.bonds, c.masses, c.zss));
      error.see((a - to_vector(project_velocities(x, free, c.masses))).norm());
    }
  });
  // |a| < 100, and |g| < 1e-15 remains, which 1/(b h^2) = 1000 makes 1e-12.
  error.expect_below(3e-12);
}

/// Expects that errors decrease by `factor` from each to the next, within 10 %.
void expect_ratio(const std::vector<Real>& errors, double factor) {
  for (std::size_t k = 1; k < errors.size(); ++k) {
    EXPECT_GT(errors[k - 1] / errors[k], 0.9 * factor) << "from " << k - 1;
    EXPECT_LT(errors[k - 1] / errors[k], 1.1 * factor) << "from " << k - 1;
  }
}

// The distance to that limit falls with omega^-2.
TEST(FormulaTies, PenaltyConvergesToItsLimitWithOmegaSquared) {
  Random random(4);
  for_models([&](const WaterModel& model) {
    const Numbers c(model);
    const Triple<double> x = random_molecule(model, random, 0.0), f = random.triple(50.0);
    const auto acceleration = [&](double omega) {
      IntegratorSpec s;
      s.timestep_akma = 0.05;
      s.omega = omega;
      return to_vector(zss_acceleration(x, f, c.bonds, c.masses, zss_parameters(s)));
    };
    std::vector<Real> errors;
    for (double omega : {200.0, 400.0, 800.0, 1600.0}) {
      errors.push_back((acceleration(omega) - acceleration(kInfinity)).norm());
    }
    expect_ratio(errors, 4.0);
  });
}

// For small steps Z&Ss is velocity Verlet: a = M^-1 (F0 - omega^2 J^T g) up to b h^2.
TEST(FormulaTies, SmallStepsApproachThePenaltyForce) {
  Random random(5);
  for_models([&](const WaterModel& model) {
    const Numbers c(model);
    const double omega = 20.0;
    const Triple<double> x = random_molecule(model, random, 0.0) + random.triple(0.05);
    const Triple<double> f = random.triple(50.0);
    const Vector9 verlet = to_vector(
        scale(c.masses.inverse_o, c.masses.inverse_h, f + penalty_force(x, c.bonds, omega)));
    std::vector<Real> errors;
    for (double h : {2e-3, 1e-3, 5e-4}) {
      IntegratorSpec s;
      s.timestep_akma = h;
      s.omega = omega;
      errors.push_back(
          (to_vector(zss_acceleration(x, f, c.bonds, c.masses, zss_parameters(s))) - verlet)
              .norm());
    }
    expect_ratio(errors, 4.0);
  });
}

// A small move onto the constraints equals the projection of the move, up to second order.
TEST(FormulaTies, SmallConstrainedMovesAreProjections) {
  Random random(6);
  for_models([&](const WaterModel& model) {
    const Numbers c(model);
    const Triple<double> x = random_molecule(model, random, 0.0), v = random.triple(1.0);
    const Vector9 tangent = to_vector(project_velocities(x, v, c.masses));
    std::vector<Real> by_settle, by_newton, by_sweeps;
    for (double e : {8e-4, 4e-4, 2e-4}) {
      const Triple<double> u{e * v.o, e * v.h1, e * v.h2};
      const auto rest = [&](const Triple<double>& d) {
        return (to_vector(d) - e * tangent).norm();
      };
      by_settle.push_back(rest(Settle::run(c, x, u)));
      by_newton.push_back(rest(ShakeNewton::run(c, x, u)));
      by_sweeps.push_back(rest(ShakeSweeps::run(c, x, u)));
    }
    expect_ratio(by_settle, 4.0);
    expect_ratio(by_newton, 4.0);
    expect_ratio(by_sweeps, 4.0);
  });
}

// Two constrained moves from the same place, by u + w and u - w with w = M^-1 (force along the old
// bonds), end at the same point: the constraint force absorbs w.
TEST(FormulaTies, ForcesAlongTheOldBondsDoNotCount) {
  Random random(7);
  Worst error("bond_forces_do_not_count");
  for_models([&](const WaterModel& model) {
    const Numbers c(model);
    for (int n = 0; n < 200; ++n) {
      const Triple<double> x = random_molecule(model, random, 0.0), u = random.triple(0.05);
      const Vec3<double> l = random.in_ball(0.02);
      const Triple<double> along =
          scale(c.masses.inverse_o, c.masses.inverse_h,
                apply_jacobian_transposed(bonds(x), BondValues<double>{l.x, l.y, l.z}));
      const auto apart = [&](const Triple<double>& a, const Triple<double>& b) {
        error.see((to_vector(a) - to_vector(b)).norm());
      };
      apart(Settle::run(c, x, u + along), Settle::run(c, x, u - along));
      apart(ShakeNewton::run(c, x, u + along), ShakeNewton::run(c, x, u - along));
      apart(ShakeSweeps::run(c, x, u + along), ShakeSweeps::run(c, x, u - along));
    }
  });
  // The sweeps stop at 1e-13, with about as much left.
  error.expect_below(1e-12);
}

// --- homogeneity of the pair energy

// Euler's theorem: stretching all distances by s, the Coulomb energy goes with 1/s, the two terms
// of Lennard-Jones with s^-12 and s^-6; the derivative at s = 1 is minus the virial of the forces.
TEST(PairEnergy, VirialTheorem) {
  using D = Dual<long double, 1>;
  Random random(8);
  Worst coulomb("virial_coulomb"), lj("virial_lj"), forces("virial_forces");
  for_models([&](const WaterModel& model) {
    const auto check = [&](auto m_site) {
      const PairParameters<double> p = pair_parameters<double>(model);
      PairParameters<double> repulsion = p;
      repulsion.lj_6c = 0.0;
      for (int n = 0; n < 300; ++n) {
        const auto pair = random_pair(model, random, random.uniform(2.3, 8.0), 0.0);
        std::array<std::array<D, 9>, 2> v;
        for (int a = 0; a < 2; ++a) {
          for (int k = 0; k < 9; ++k) {
            v[a][k] = D(to_array(pair[a])[k]) * D::variable(1.0L, 0);
          }
        }
        const auto energy = [&](const PairParameters<double>& q) {
          const Triple<D> i = to_triple(v[0]), j = to_triple(v[1]);
          D c(0), l(0);
          add_pair_energy<m_site()>(q, i.o - j.o, site_offsets<m_site()>(i, D(q.m_weight)),
                                    site_offsets<m_site()>(j, D(q.m_weight)), AllLanes{}, c, l);
          return std::pair(c, l);
        };
        const auto [c, l] = energy(p);
        const D wall = energy(repulsion).second;
        coulomb.see((c.d[0] + c.value) / 100);
        lj.see((l.d[0] + 12 * wall.value + 6 * (l.value - wall.value)) / wall.value);

        SiteForces<double> f_i{}, f_j{};
        add_pair_forces<m_site()>(
            p, pair[0].o - pair[1].o, site_offsets<m_site()>(pair[0], p.m_weight),
            site_offsets<m_site()>(pair[1], p.m_weight), AllLanes{}, f_i, f_j);
        const Real virial =
            to_vector(pair[0]).dot(to_vector(forces_on_atoms<m_site()>(f_i, p.m_weight))) +
            to_vector(pair[1]).dot(to_vector(forces_on_atoms<m_site()>(f_j, p.m_weight)));
        // Single terms are up to 100 kcal/mol, and the two of Lennard-Jones 12 times their energy.
        forces.see((virial + c.d[0] + l.d[0]) / (100 + 12 * wall.value));
      }
    };
    if (model.has_m_site()) {
      check(std::true_type{});
    } else {
      check(std::false_type{});
    }
  });
  // The derivatives are taken in long double; only the factor 1/12 of 12 A is rounded to double.
  coulomb.expect_below(20 * 0x1p-64);
  lj.expect_below(1e-15);
  forces.expect_below(100 * kEpsilon);
}

// --- temperature of rigid molecules

/// Mean kinetic energy of a rigid molecule over kT/2 per degree of freedom, in the stationary state
/// of v <- P (decay P v + kick xi); the linear map is read off the formulas themselves.
double stationary_temperature(const WaterModel& model, const OuParameters<double>& p, double kT) {
  const Masses<double> m = masses(model);
  const Triple<double> x = molecule_at_origin(model);
  const Triple<double> zero{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  Matrix9 map, noise;
  for (int k = 0; k < 9; ++k) {
    std::array<double, 9> unit{};
    unit[k] = 1.0;
    const Triple<double> e = to_triple(unit);
    map.col(k) = to_vector(project_velocities(x, ou_step(project_velocities(x, e, m), zero, p), m));
    noise.col(k) = to_vector(project_velocities(x, ou_step(zero, e, p), m));
  }
  // Covariance C = map C map^T + noise noise^T, by doubling the number of steps.
  Matrix9 c = noise * noise.transpose();
  for (int doubling = 0; doubling < 40; ++doubling) {
    c += map * c * map.transpose();
    map *= map;
  }
  return static_cast<double>((mass_matrix(m) * c).trace() / (6 * kT));
}

// Six degrees of freedom have kT/2 each, exactly if all atoms have the same friction. With rates
// proportional to 1/m, the projections before and after O leave a bias towards lower temperatures
// that decreases with the step: negligible at the friction of Tao & Owhadi, a percent at a hundred
// times that.
TEST(ProjectedThermostat, HoldsTheTemperatureOfRigidMolecules) {
  for_models([](const WaterModel& model) {
    const double kT = 1.0 / 50;
    ThermostatSpec t;
    t.temperature_K = kT / units::boltzmann_kcal_per_mol_K;
    for (double rate : {1e-3, 0.05, 1.0}) {
      t.friction_oxygen_per_akma = t.friction_hydrogen_per_akma = rate;
      // 40 doublings sum up a million steps and more; each has a rounding of 1e-16 per 2 rate h.
      EXPECT_NEAR(stationary_temperature(model, ou_parameters(model, t, 0.05), kT), 1.0, 1e-10);
    }
    const auto per_mass = [&](double gamma, double h) {
      t.friction_oxygen_per_akma = gamma / model.mass_o_Da;
      t.friction_hydrogen_per_akma = gamma / model.mass_h_Da;
      return 1.0 - stationary_temperature(model, ou_parameters(model, t, h), kT);
    };
    // The documented values, to their digits; models differ by their angle.
    EXPECT_NEAR(per_mass(0.01, 0.05), 4e-5, 0.5e-5);
    EXPECT_NEAR(per_mass(1.0, 0.05), 4e-3, 0.5e-3);
    expect_ratio({per_mass(0.1, 0.1), per_mass(0.1, 0.05), per_mass(0.1, 0.025)}, 2.0);
  });
}

}  // namespace
}  // namespace tarn
