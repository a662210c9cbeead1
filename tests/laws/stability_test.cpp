#include "engine_fixtures.hpp"

/// @file
/// Linear stability of stiff bonds: one free molecule, stretched by 1e-7 A.

namespace tarn {
namespace {

using namespace test;

constexpr double kStretch = 1e-7;

/// A molecule at its reference geometry, all atoms displaced at random, at rest.
State stretched(double by_A = kStretch) {
  Random random(5);
  State s;
  s.molecules = 1;
  s.replica_ids = {0};
  append(to_array(random_molecule(tip3p(), random, 0.0)), s.positions_A);
  for (double& x : s.positions_A) x += by_A * random.uniform(-1.0, 1.0);
  s.velocities_A_per_akma.assign(9, 0.0);
  return s;
}
System free_molecule(const IntegratorSpec& integrator) {
  System s;
  s.model = tip3p();
  s.molecules = 1;
  s.integrator = integrator;
  return s;
}
double largest_move(const Engine& engine, const State& start) {
  return largest_difference(engine.state().positions_A, start.positions_A);
}

/// From rest each mode keeps its amplitude, so that in the norm of the masses a move is at most
/// twice the stretch, kStretch times the root of the mass of nine coordinates, and of a hydrogen at
/// most that over the root of its own.
double largest_stable_move() {
  const WaterModel model = tip3p();
  return 2.0 * kStretch * std::sqrt(3.0 * model.molecule_mass_Da() / model.mass_h_Da);
}

/// The stiffest mode has 4.5438 omega, so that velocity Verlet is stable below h omega = 0.4402.
/// At half a per cent more it grows by a factor of 1.2 a step.
TEST(Stability, OfVelocityVerlet) {
  for (double h_omega : {0.4380, 0.4425}) {
    IntegratorSpec spec = integrator("verlet", 1.0, 100.0);
    spec.timestep_akma = h_omega / spec.omega;
    const State start = stretched();
    const auto engine = make_cpu_engine(free_molecule(spec), start, {}, 1);
    engine->advance(60);
    if (h_omega < 0.4402) {
      engine->advance(20000);
      EXPECT_LT(largest_move(*engine, start), largest_stable_move());
      EXPECT_TRUE(engine->blow_ups().empty());
    } else {
      EXPECT_GT(largest_move(*engine, start), 1000.0 * kStretch);
    }
  }
}

/// Z&Ss is stable for any h omega, at least with the default b.
TEST(Stability, OfZssAtAnyStep) {
  for (double h_omega : {0.1, 1.0, 30.0, 1e3, 1e5}) {
    IntegratorSpec spec = integrator("zss_structured", 1.0, 100.0);
    spec.timestep_akma = h_omega / spec.omega;
    const State start = stretched();
    const auto engine = make_cpu_engine(free_molecule(spec), start, {}, 1);
    engine->advance(20000);
    EXPECT_TRUE(engine->blow_ups().empty()) << h_omega;
    EXPECT_LT(largest_move(*engine, start), largest_stable_move()) << h_omega;
  }
}

/// At infinite omega a = -x/(b h^2) along the bonds, and the step turns by an angle with
/// cos = 1 - 1/(2b): a period of 3 steps at b = 1/3 and of 4 at b = 1/2, where resonances with the
/// rest of the motion are to be feared. As b falls to 1/4 the angle comes to 180 degrees and the
/// amplitude of x without bound: it is as 1/sqrt(4b - 1).
TEST(Stability, StiffBondsHaveAPeriodOfThreeOrFourSteps) {
  const auto moved_after = [](double beta, int steps) {
    IntegratorSpec spec = integrator("zss_infinite", 0.05);
    spec.beta = beta;
    const State start = stretched();
    const auto engine = make_cpu_engine(free_molecule(spec), start, {}, 1);
    engine->advance(steps);
    return largest_move(*engine, start);
  };
  for (const auto& [beta, period] : {std::pair{1.0 / 3.0, 3}, {0.5, 4}}) {
    for (int step = 1; step < period; ++step) {
      EXPECT_GT(moved_after(beta, step), 0.3 * kStretch) << "b = " << beta << ", step " << step;
    }
    // Linear up to the square of the stretch over a bond, and rounding.
    EXPECT_LT(moved_after(beta, period), 1e-13 + 10.0 * kStretch * kStretch) << "b = " << beta;
    EXPECT_GT(moved_after(beta + 0.05, period), 1e-2 * kStretch) << "b = " << beta;
  }
}

/// A kick along the bonds moves x by its h v times 2 b / sqrt(4b - 1): near b = 1/4 that has no
/// bound.
TEST(Stability, PositionsDivergeAtAQuarter) {
  const auto amplitude = [](double beta) {
    IntegratorSpec spec = integrator("zss_infinite", 0.05);
    spec.beta = beta;
    State start = stretched(0.0);
    Random random(6);
    for (double& v : start.velocities_A_per_akma) v = 1e-6 * random.uniform(-1.0, 1.0);
    const auto engine = make_cpu_engine(free_molecule(spec), start, {}, 1);
    double worst = 0.0;
    Frame f;
    for (int step = 0; step < 400; ++step) {
      engine->advance(1);
      engine->snapshot(kPositions | kOwnPositions, f);
      for (std::size_t k = 0; k < 9; ++k) {
        worst = std::max(worst, std::fabs(f.own_positions_A[k] - f.positions_A[k]));
      }
    }
    return worst;
  };
  const double a = amplitude(0.2525), b = amplitude(0.2501);
  // sqrt(0.01 / 0.0004) = 5 times as large. x goes up and down in an envelope of 79 and 16 steps,
  // whose largest is seen to (pi/79)^2/8 = 2e-4 and, as there are 25, about as well.
  EXPECT_NEAR(b / a, 5.0 * 0.2501 / 0.2525, 1e-2);
}

}  // namespace
}  // namespace tarn
