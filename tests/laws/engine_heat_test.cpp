#include "engine_fixtures.hpp"
#include "one_replica.hpp"

/// @file
/// The heat of the thermostat and the shadow work, equations (32) and (33). engine_laws_test tests
/// that heat does not depend on the division, batching or resumption of a run.

namespace tarn {
namespace {

using namespace test;

std::unique_ptr<Engine> engine(const System& system, const State& start) {
  return make_cpu_engine(system, start, {}, 1);
}
Frame energies(Engine& e) {
  Frame f;
  e.snapshot(kEnergies | kHeat, f);
  return f;
}
System without_noise(System s) {
  s.thermostat.friction_oxygen_per_akma = s.thermostat.friction_hydrogen_per_akma = 0.0;
  return s;
}

/// Calls body(system, start) for every scheme, thermostat, layout and precision.
void for_systems(const std::function<bool(const EngineCase&)>& wanted,
                 const std::function<void(const System&, const State&)>& body) {
  for (const EngineCase& c : engine_cases()) {
    if (!wanted(c)) continue;
    for (int n : {1, 7, 17, 65}) {
      if (n > most_molecules(c.scheme)) continue;
      for (Precision precision : precisions_of(c.scheme)) {
        SCOPED_TRACE(c.name() + ", N = " + std::to_string(n) + ", " + name_of(precision));
        const System system = make_system(c, tip3p(), n, precision);
        body(system, with_heat(start_state(system, spread_ids(3))));
      }
    }
  }
}
bool is_gla(const EngineCase& c) { return c.bath == Bath::gla || c.bath == Bath::gla_per_mass; }
bool is_baoab(const EngineCase& c) {
  return c.bath == Bath::baoab || c.bath == Bath::baoab_per_mass;
}

/// Rounding of two kinetic energies a molecule and step, of some 3 kcal/mol each: those that are
/// compared are of velocities that were rounded one way or the other, with floats to 2^-24 in each
/// of some ten operations. In double, velocities from positions carry their rounding over h, 1e-14,
/// and iterated bonds their tolerance of 1e-8.
double tolerance(const System& s) {
  const bool iterates =
      s.integrator.scheme == Scheme::shake || s.integrator.scheme == Scheme::rattle;
  const double rounding = s.precision == Precision::single ? 0x1p-24 * 30.0
                          : iterates                       ? 1e-7
                                                           : 1e-12;
  return rounding * 6.0 * s.molecules;
}

/// Energy minus heat changes only by the deterministic steps: those of an engine without a
/// thermostat, step by step.
TEST(Heat, EnergyLessHeatIsThatOfTheDeterministicSteps) {
  for_systems(is_gla, [](const System& system, const State& start) {
    constexpr int kSteps = 5;
    const auto bathed = engine(system, start);
    System alone = system;
    alone.thermostat = {};
    std::vector<double> work(3, 0.0);
    const Frame first = energies(*bathed);
    for (int k = 0; k < kSteps; ++k) {
      const auto deterministic = engine(alone, bathed->state());
      const Frame before = energies(*deterministic);
      deterministic->advance(1);
      const Frame after = energies(*deterministic);
      for (std::size_t r = 0; r < 3; ++r) {
        work[r] += after.energies[r].total_kcal_per_mol - before.energies[r].total_kcal_per_mol;
      }
      bathed->advance(1);
    }
    const Frame last = energies(*bathed);
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_NEAR(last.energies[r].total_kcal_per_mol - first.energies[r].total_kcal_per_mol -
                      last.heat_kcal_per_mol[r],
                  work[r], kSteps * tolerance(system));
      EXPECT_NE(last.heat_kcal_per_mol[r], 0.0);
    }
  });
}

/// BAOAB measures temperatures right after the noise; without friction the same step measures them
/// right before it. The difference is the heat.
TEST(Heat, EqualsTheEnergyAddedByBaoabNoise) {
  for_systems(is_baoab, [](const System& system, const State& start) {
    const auto bathed = engine(system, start);
    const double degrees = (is_rigid(system.integrator.scheme) ? 6.0 : 9.0) * system.molecules;
    std::vector<double> heat(3, 0.0);
    constexpr int kSteps = 5;
    for (int k = 0; k < kSteps; ++k) {
      const auto cold = engine(without_noise(system), bathed->state());
      cold->advance(1);
      bathed->advance(1);
      const Frame before = energies(*cold), after = energies(*bathed);
      for (std::size_t r = 0; r < 3; ++r) {
        heat[r] += 0.5 * degrees * units::boltzmann_kcal_per_mol_K *
                   (after.energies[r].temperature_K - before.energies[r].temperature_K);
        EXPECT_NEAR(after.heat_kcal_per_mol[r], heat[r], kSteps * tolerance(system));
      }
    }
  });
}

TEST(Heat, IsZeroWithoutFriction) {
  for_systems([](const EngineCase& c) { return c.bath != Bath::none; },
              [](const System& system, const State& start) {
                const auto e = engine(without_noise(system), start);
                e->advance(3);
                EXPECT_EQ(e->state().heat_kcal_per_mol, start.heat_kcal_per_mol);
              });
}

/// Tallying heat changes no bit of the run.
TEST(Heat, ChangesNothing) {
  for_systems([](const EngineCase& c) { return c.bath != Bath::none; },
              [](const System& system, const State& start) {
                State plain = start;
                plain.heat_kcal_per_mol.clear();
                const auto a = engine(system, start), b = engine(system, plain);
                a->advance(4);
                b->advance(4);
                EXPECT_EQ(a->state().positions_A, b->state().positions_A);
                EXPECT_EQ(a->state().velocities_A_per_akma, b->state().velocities_A_per_akma);
                EXPECT_TRUE(b->state().heat_kcal_per_mol.empty());
                EXPECT_EQ(energies(*b).heat_kcal_per_mol, std::vector<double>(3, 0.0));
              });
}

/// A stopped replica has the heat of its last good state.
TEST(Heat, OfAStoppedReplicaIsThatOfItsLastGoodState) {
  for (int n : {7, 65}) {
    for (Precision precision : {Precision::double_, Precision::single}) {
      const System system = make_system({"settle", Bath::gla}, tip3p(), n, precision);
      const State start = with_fast_molecule(with_heat(start_state(system, spread_ids(3)), 0.25));
      const auto e = engine(system, start);
      e->advance(5);
      ASSERT_EQ(e->blow_ups().size(), 1u);
      const std::vector<double> heat = e->state().heat_kcal_per_mol;
      const auto size = static_cast<std::size_t>(n);
      for (std::size_t m = 0; m < 3 * size; ++m) {
        EXPECT_EQ(heat[m] == 0.25, m / size == 1) << m;
      }
    }
  }
}

/// Mean square over replicas of the shadow work in a time, and its relative standard error.
struct MeanSquare {
  double value, relative_error;
};
MeanSquare squared_shadow_work(System system, double h, double time) {
  system.integrator.timestep_akma = h;
  constexpr int kReplicas = 1024;
  const bool rigid = is_rigid(system.integrator.scheme);
  const std::vector<double> x = minimum_of_seven(system.integrator);
  const State start = replicas_at(system.model, x, kReplicas, 300.0, 1, rigid);
  const auto e = make_cpu_engine(system, with_heat(start), {}, 0);
  // Away from the minimum first, where all replicas have the same error.
  const auto steps = static_cast<std::int64_t>(std::lround(time / h));
  e->advance(steps);
  const Frame a = energies(*e);
  e->advance(steps);
  const Frame b = energies(*e);
  double sum = 0.0, sum2 = 0.0;
  for (std::size_t r = 0; r < kReplicas; ++r) {
    const double work = b.energies[r].physical_kcal_per_mol - b.heat_kcal_per_mol[r] -
                        a.energies[r].physical_kcal_per_mol + a.heat_kcal_per_mol[r];
    sum += work * work;
    sum2 += work * work * work * work;
  }
  return {sum / kReplicas, std::sqrt(std::max(0.0, sum2 / (sum * sum) - 1.0 / kReplicas))};
}

/// Shadow work of a symmetric step decreases with h^2 for any noise, within 4.5 standard errors of
/// the order on both sides. Steps are so short that terms of h^4 are within one standard error: a
/// quarter of (h w)^2, with w = 35 for bond stretching at omega = 10, and 8 for librations of rigid
/// molecules.
TEST(ShadowWork, FallsWithTheSquareOfTheStep) {
  struct Case {
    const char* scheme;
    Bath bath;
    double h;
  };
  for (const Case& c : {Case{"zss_structured", Bath::gla, 0.005},
                        {"zss_structured", Bath::baoab, 0.005},
                        {"settle", Bath::baoab, 0.02},
                        {"settle", Bath::gla, 0.02}}) {
    System system = cold_system(integrator(c.scheme, c.h, 10.0));
    system.thermostat = thermostat(c.bath, 300.0);
    const MeanSquare whole = squared_shadow_work(system, c.h, 1.0);
    const MeanSquare half = squared_shadow_work(system, c.h / 2, 1.0);
    const double order = 0.5 * std::log2(whole.value / half.value);
    const double error =
        0.5 / std::log(2.0) * std::hypot(whole.relative_error, half.relative_error);
    EXPECT_LT(error, 0.07) << c.scheme;  // so that orders 1 and 3 are 14 of them away
    EXPECT_NEAR(order, 2.0, 4.5 * error) << c.scheme;
  }
}

TEST(Heat, RefusesAStartOfAnotherSize) {
  const System system = make_system({"settle", Bath::gla}, tip3p(), 2);
  State start = start_state(system, {0});
  start.heat_kcal_per_mol.assign(3, 0.0);
  EXPECT_THROW(engine(system, start), InputError);
}

}  // namespace
}  // namespace tarn
