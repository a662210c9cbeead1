#include "engine_fixtures.hpp"
#include "tarn/steps/step_parameters.hpp"
#include "worst.hpp"

/// @file
/// What the deterministic steps keep: energy, momenta, the order of accuracy and the way back.
/// Seven TIP3P molecules from the cold start; times are in akma units.

namespace tarn {
namespace {

using namespace test;

void record(const std::string& name, double value) {
  ::testing::Test::RecordProperty(name, (std::ostringstream() << value).str());
}

struct Conserved {
  double drift = 0.0;     ///< slope of the energy by least squares, per unit of time
  double rms = 0.0;       ///< of the energy about its mean
  double momentum = 0.0;  ///< largest change of a component of P
  double angular_momentum = 0.0;
  double constraint = 0.0;  ///< largest |g|
};

/// Runs for `duration` and looks at every tenth step.
Conserved run(const System& system, const State& start, double duration) {
  const auto engine = make_cpu_engine(system, start, {}, 1);
  const double h = system.integrator.timestep_akma;
  constexpr int kEvery = 10;
  const int samples = static_cast<int>(std::lround(duration / h / kEvery));
  Frame first, f;
  engine->snapshot(kConservation, first);
  Conserved c;
  double n = 0, t_sum = 0, e_sum = 0, tt = 0, te = 0, ee = 0;
  const double e0 = first.conservation.at(0).energy_kcal_per_mol;
  for (int k = 0; k <= samples; ++k) {
    if (k > 0) engine->advance(kEvery);
    engine->snapshot(kConservation, f);
    EXPECT_EQ(f.conservation.size(), 1u);
    if (f.conservation.empty()) return c;
    const Conservation& now = f.conservation[0];
    const double t = k * kEvery * h, e = now.energy_kcal_per_mol - e0;
    n += 1;
    t_sum += t;
    e_sum += e;
    tt += t * t;
    te += t * e;
    ee += e * e;
    for (std::size_t d = 0; d < 3; ++d) {
      c.momentum = std::max(c.momentum, std::fabs(now.momentum_Da_A_per_akma[d] -
                                                  first.conservation[0].momentum_Da_A_per_akma[d]));
      c.angular_momentum = std::max(
          c.angular_momentum, std::fabs(now.angular_momentum_Da_A2_per_akma[d] -
                                        first.conservation[0].angular_momentum_Da_A2_per_akma[d]));
    }
    c.constraint = std::max(c.constraint, now.constraint_max_A2);
  }
  c.drift = std::fabs((n * te - t_sum * e_sum) / (n * tt - t_sum * t_sum));
  c.rms = std::sqrt(std::max(0.0, ee / n - e_sum / n * (e_sum / n)));
  record("drift", c.drift);
  record("rms", c.rms);
  record("momentum", c.momentum);
  record("angular_momentum", c.angular_momentum);
  record("constraint", c.constraint);
  return c;
}

struct Row {
  std::string name;
  IntegratorSpec integrator;
  Precision precision;
  double drift, rms, momentum, angular_momentum;
  friend std::ostream& operator<<(std::ostream& out, const Row& r) { return out << r.name; }
};

class EngineConservation : public ::testing::TestWithParam<Row> {};

/// The numbers that the schemes must keep for 1000 units at h = 0.05.
TEST_P(EngineConservation, KeepsEnergyAndMomenta) {
  const Row& row = GetParam();
  System system = cold_system(row.integrator);
  system.precision = row.precision;
  const Conserved c = run(system, cold_start(row.integrator), 1000.0);
  EXPECT_LT(c.drift, row.drift);
  EXPECT_LT(c.rms, row.rms);
  EXPECT_LT(c.momentum, row.momentum);
  EXPECT_LT(c.angular_momentum, row.angular_momentum);
  // Something moves, and the energy of a step of finite length is not exact.
  EXPECT_GT(c.rms, 1e-6);
  EXPECT_GT(c.momentum, 0.0);
}

INSTANTIATE_TEST_SUITE_P(
    All, EngineConservation,
    ::testing::Values(
        Row{"settle", integrator("settle"), Precision::double_, 2e-6, 3e-3, 1e-7, 1e-7},
        Row{"shake", integrator("shake"), Precision::double_, 2e-6, 3e-3, 1e-7, 1e-7},
        Row{"shake_sweeps", integrator("shake_sweeps"), Precision::double_, 2e-6, 3e-3, 1e-7, 1e-7},
        Row{"rattle", integrator("rattle"), Precision::double_, 2e-6, 3e-3, 1e-7, 1e-7},
        // At a step for which it is stable, 0.02.
        Row{"verlet_omega_20", integrator("verlet", 0.05, 20.0), Precision::double_, 2e-5, 5e-3,
            1e-10, 1e-10},
        Row{"zss_omega_20", integrator("zss_structured", 0.05, 20.0), Precision::double_, 2e-5,
            5e-3, 1e-10, 1e-10},
        Row{"zss_dense_omega_20", integrator("zss_dense", 0.05, 20.0), Precision::double_, 2e-5,
            5e-3, 1e-10, 1e-10},
        Row{"zss_omega_500", integrator("zss_structured", 0.05, 500.0), Precision::double_, 2e-4,
            5e-2, 1e-8, 1e-8},
        // Mixed precision keeps momentum as double does; its forces are not gradients to the last
        // bit, and torques of pairs do not cancel, by 1e-7 of forces of 10 kcal/mol/A and arms of
        // 3 A at random: over 20000 steps that is about 1e-4 of angular momentum.
        Row{"settle_mixed", integrator("settle"), Precision::mixed, 2e-5, 5e-3, 1e-7, 2e-3},
        Row{"zss_omega_20_mixed", integrator("zss_structured", 0.05, 20.0), Precision::mixed, 2e-5,
            5e-3, 1e-10, 2e-3},
        // Single: forces sum to a net force of some 1e-7 of their size, and velocities of 0.3
        // A/akma are rounded by 1e-8 at each of 20000 steps, both at random.
        Row{"zss_omega_20_single", integrator("zss_structured", 0.05, 20.0), Precision::single,
            5e-5, 5e-3, 2e-4, 2e-3},
        Row{"zss_infinite_single", integrator("zss_infinite"), Precision::single, 2e-4, 5e-2, 2e-4,
            2e-3},
        Row{"settle_single", integrator("settle"), Precision::single, 2e-5, 5e-3, 2e-4, 2e-3},
        Row{"rattle_single", integrator("rattle"), Precision::single, 2e-5, 5e-3, 2e-4, 2e-3},
        // The forces along the bonds go into the velocities of SHAKE and out of them, 10 kcal/mol/A
        // at 20000 steps, and the inverse masses of them are rounded: that adds up.
        Row{"shake_single", integrator("shake"), Precision::single, 2e-5, 5e-3, 1e-2, 5e-2},
        Row{"shake_sweeps_single", integrator("shake_sweeps"), Precision::single, 2e-5, 5e-3, 1e-2,
            5e-2},
        // Exactly symplectic and symmetric under rotations.
        Row{"pushforward_omega_20", integrator("pushforward", 0.05, 20.0), Precision::double_, 2e-5,
            5e-3, 1e-10, 1e-9}),
    [](const auto& row) { return row.param.name; });

/// Each step finds the bond lengths anew: in 10^5 steps of single precision they do not wander. A
/// squared length of 2.3 A^2 is good to some eight roundings of a float, the tolerance of SHAKE,
/// and a fixed-point position to 1.5e-8 A.
TEST(SingleRigid, BondsDoNotWander) {
  for (const std::string scheme : {"settle", "rattle", "shake", "shake_sweeps"}) {
    for (const Bath bath : {Bath::none, Bath::baoab}) {
      System system = cold_system(integrator(scheme));
      system.precision = Precision::single;
      system.thermostat = thermostat(bath, 300.0);
      constexpr int kReplicas = 8, kStretches = 10;
      const double temperature_K = bath == Bath::none ? 10.0 : 300.0;
      const auto engine = make_cpu_engine(system,
                                          replicas_at(tip3p(), minimum_of_seven(system.integrator),
                                                      kReplicas, temperature_K, 5, true),
                                          {});
      double mean[kStretches] = {}, worst = 0.0;
      for (double& m : mean) {
        for (int k = 0; k < 100; ++k) {
          engine->advance(100);
          Frame f;
          engine->snapshot(kConservation, f);
          ASSERT_EQ(f.conservation.size(), static_cast<std::size_t>(kReplicas));
          for (const Conservation& c : f.conservation) {
            m += c.constraint_max_A2 / (100.0 * kReplicas);
            worst = std::max(worst, c.constraint_max_A2);
          }
        }
      }
      record(scheme + "_worst_" + std::to_string(static_cast<int>(bath)), worst);
      record(scheme + "_last_over_first_" + std::to_string(static_cast<int>(bath)),
             mean[kStretches - 1] / mean[0]);
      EXPECT_LT(worst, 2.0 * 2.3 * kLeastSingleTolerance) << scheme;
      EXPECT_GT(worst, 1e-7) << scheme;
      EXPECT_NEAR(mean[kStretches - 1], mean[0], 0.1 * mean[0]) << scheme;
    }
  }
}

/// The full Hessian keeps momentum, and not angular momentum.
TEST(FullHessian, DoesNotKeepAngularMomentum) {
  const IntegratorSpec full = integrator("zss_full", 0.05, 20.0);
  const Conserved c = run(cold_system(full), cold_start(full), 100.0);
  EXPECT_LT(c.momentum, 1e-10);
  EXPECT_GT(c.angular_momentum, 1e-3);
}

/// The whole Hessian moves with the molecules and keeps momentum; its blocks of single molecules
/// hold them to where the others are.
TEST(StudyHessians, TotalKeepsMomentumAndMoleculeDoesNot) {
  IntegratorSpec spec = integrator("zss_total", 0.05, 20.0);
  spec.omega = 20.0;
  EXPECT_LT(run(cold_system(spec), cold_start(spec), 20.0).momentum, 1e-10);
  spec.hessian = Hessian::molecule;
  EXPECT_GT(run(cold_system(spec), cold_start(spec), 20.0).momentum, 1e-4);
}

/// One step of Newton's method is not enough: energy drifts over 100 times as fast as with Z&Ss at
/// the same step, and after some 270 units the run blows up.
TEST(OneStepNewmark, Drifts) {
  const IntegratorSpec zss = integrator("zss_structured", 0.05, 20.0);
  const double drift = run(cold_system(zss), cold_start(zss), 200.0).drift;
  for (const std::string scheme : {"one_step", "one_step_full"}) {
    IntegratorSpec spec = integrator(scheme, 0.05, 20.0);
    spec.timestep_akma = 0.05;
    const double its_drift = run(cold_system(spec), cold_start(spec), 200.0).drift;
    record("ratio_" + scheme, its_drift / drift);
    EXPECT_GT(its_drift, 100.0 * drift) << scheme;
    const auto engine = make_cpu_engine(cold_system(spec), cold_start(spec), {}, 1);
    engine->advance(20000);
    EXPECT_EQ(engine->blow_ups().size(), 1u) << scheme;
  }
}

/// SHAKE by sweeps: a loose tolerance shows as a drift of the energy, which Newton's iteration does
/// not have at the same tolerance, because its last step squares the error.
TEST(ShakeTolerance, ShowsAsDrift) {
  const auto drift = [](const std::string& scheme, double tolerance) {
    IntegratorSpec spec = integrator(scheme);
    spec.tolerance = tolerance;
    return run(cold_system(spec), cold_start(spec), 1000.0).drift;
  };
  const double loose = drift("shake_sweeps", 1e-4), tight = drift("shake_sweeps", 1e-8);
  record("loose", loose);
  record("tight", tight);
  record("newton", drift("shake", 1e-4));
  EXPECT_GT(loose, 10.0 * tight);
  EXPECT_LT(tight, 2e-6);
  EXPECT_LT(drift("shake", 1e-4), 2e-6);
}

/// A wall about the centre of mass, with recoil, keeps energy and both momenta too: about the
/// centre it is a central force. It must be felt for that to mean anything.
TEST(Wall, KeepsEnergyAndMomenta) {
  for (const std::string scheme : {"settle", "zss_structured"}) {
    System system = cold_system(integrator(scheme));
    const State start = cold_start(system.integrator);
    const Conserved without = run(system, start, 200.0);
    system.confinement = {2.0, 5.0};
    const Conserved with = run(system, start, 200.0);
    EXPECT_LT(with.momentum, 1e-7) << scheme;
    EXPECT_LT(with.angular_momentum, 1e-7) << scheme;
    EXPECT_LT(with.drift, 2e-4) << scheme;  // where its force bends, a step is less accurate
    EXPECT_LT(with.rms, 0.03) << scheme;
    EXPECT_GT(with.rms, 1.5 * without.rms) << scheme;
  }
}

/// E_N is kept to second order: its fluctuation is four times smaller at half the step.
TEST(EngineOrder, ConservedEnergyIsKeptToSecondOrder) {
  for (const std::string scheme : {"zss_structured", "verlet", "shake", "rattle", "settle"}) {
    SCOPED_TRACE(scheme);
    double rms[3];
    for (int k = 0; k < 3; ++k) {
      const IntegratorSpec spec = integrator(scheme, 0.02 / (1 << k), 20.0);
      rms[k] = run(cold_system(spec), cold_start(spec), 100.0).rms;
    }
    record("order_1_" + scheme, std::log2(rms[0] / rms[1]));
    record("order_2_" + scheme, std::log2(rms[1] / rms[2]));
    EXPECT_NEAR(std::log2(rms[0] / rms[1]), 2.0, 0.3);
    EXPECT_NEAR(std::log2(rms[1] / rms[2]), 2.0, 0.15);
  }
}

/// For a linear force E_N is exact at any h omega. A free molecule that vibrates by 1e-5 A is
/// linear to 1e-5; the plain energy of the same motion, without the term in b - 1/4, comes and
/// goes.
TEST(EngineOrder, ConservedEnergyIsExactForLinearForces) {
  for (const std::string scheme : {"zss_structured", "zss_dense"}) {
    for (double omega : {20.0, 100.0, 500.0}) {
      System system = cold_system(integrator(scheme, 0.05, omega));
      system.molecules = 1;
      State start = replicas_at(tip3p(), lattice_cluster(tip3p(), 1, 3), 1, 0.0, 1, false);
      Random random(8);
      for (double& x : start.positions_A) x += random.uniform(-1e-5, 1e-5);
      const auto engine = make_cpu_engine(system, start, {}, 1);
      double least = 1e9, most = 0.0, least_plain = 1e9, most_plain = 0.0;
      for (int k = 0; k < 400; ++k) {
        Frame f;
        engine->snapshot(kEnergies, f);
        const Energies& e = f.energies.at(0);
        const double plain = e.kinetic_kcal_per_mol + e.penalty_kcal_per_mol;
        least = std::min(least, e.total_kcal_per_mol);
        most = std::max(most, e.total_kcal_per_mol);
        least_plain = std::min(least_plain, plain);
        most_plain = std::max(most_plain, plain);
        engine->advance(1);
      }
      EXPECT_GT(least, 0.0);
      // The nonlinear part: amplitude over bond length, 2e-5, times the powers of h omega that a
      // step of 0.05 with omega = 500 has.
      EXPECT_LT(most - least, 1e-3 * most) << scheme << ", omega = " << omega;
      EXPECT_GT(most_plain - least_plain, 0.05 * most_plain) << scheme << ", omega = " << omega;
      record("change_omega_" + std::to_string(static_cast<int>(omega)), (most - least) / most);
      record("plain_omega_" + std::to_string(static_cast<int>(omega)),
             (most_plain - least_plain) / most_plain);
    }
  }
}

/// Velocity Verlet on V0 + V1, written here, for the solution that Z&Ss approaches.
class PenalisedVerlet {
 public:
  PenalisedVerlet(double omega, const State& start, double h)
      : omega_(omega),
        h_(h),
        force_field_(tip3p(), start.molecules),
        x_(start.positions_A),
        v_(start.velocities_A_per_akma),
        f_(x_.size()) {
    forces();
  }
  void advance(long steps) {
    for (long s = 0; s < steps; ++s) {
      for (std::size_t k = 0; k < x_.size(); ++k) {
        v_[k] += 0.5 * h_ * f_[k] / mass(k);
        x_[k] += h_ * v_[k];
      }
      forces();
      for (std::size_t k = 0; k < x_.size(); ++k) v_[k] += 0.5 * h_ * f_[k] / mass(k);
    }
  }
  const std::vector<double>& x() const { return x_; }
  const std::vector<double>& v() const { return v_; }

 private:
  static double mass(std::size_t k) { return tip3p().mass_Da(static_cast<int>(k % 9 / 3)); }
  void forces() {
    force_field_.energy_and_forces(x_, f_);
    const std::array<double, 3> r2 = tip3p().squared_lengths_A2();
    constexpr std::size_t ends[3][2] = {{0, 3}, {0, 6}, {3, 6}};
    for (std::size_t m = 0; m < x_.size(); m += 9) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t a = m + ends[c][0], b = m + ends[c][1];
        double d[3], g = -r2[c];
        for (std::size_t i = 0; i < 3; ++i) {
          d[i] = x_[b + i] - x_[a + i];
          g += d[i] * d[i];
        }
        for (std::size_t i = 0; i < 3; ++i) {
          f_[b + i] -= 2 * omega_ * omega_ * g * d[i];
          f_[a + i] += 2 * omega_ * omega_ * g * d[i];
        }
      }
    }
  }

  double omega_, h_;
  ForceField force_field_;
  std::vector<double> x_, v_, f_;
};

TEST(EngineOrder, ZssIsOfSecondOrder) {
  constexpr double kOmega = 20.0, kTime = 0.4;
  const State start = cold_start(integrator("zss_structured", 0.05, kOmega));
  PenalisedVerlet exact(kOmega, start, 2e-5);
  exact.advance(20000);
  for (const std::string scheme : {"zss_structured", "zss_dense", "zss_full", "zss_molecule",
                                   "zss_total", "pushforward", "verlet"}) {
    SCOPED_TRACE(scheme);
    double x_error[3], v_error[3], q_error[3];
    for (int k = 0; k < 3; ++k) {
      const double h = 0.005 / (1 << k);
      IntegratorSpec spec = integrator(scheme, h, kOmega);
      spec.omega = kOmega;
      const auto engine = make_cpu_engine(cold_system(spec), start, {}, 1);
      engine->advance(std::lround(kTime / h));
      const State end = engine->state();
      Frame f;
      engine->snapshot(kPositions, f);
      x_error[k] = relative_rms(end.positions_A, exact.x());
      v_error[k] = relative_rms(end.velocities_A_per_akma, exact.v());
      q_error[k] = relative_rms(f.positions_A, exact.x());
    }
    for (const auto& [name, error] : {std::pair{"x", x_error}, {"v", v_error}, {"q", q_error}}) {
      const double order = std::log2(error[1] / error[2]);
      record("order_" + scheme + "_" + name, order);
      record("error_" + scheme + "_" + name, error[2]);
      EXPECT_NEAR(order, 2.0, 0.15) << name;
      EXPECT_NEAR(std::log2(error[0] / error[1]), 2.0, 0.5) << name;
    }
  }
}

/// Both rigid schemes approach the same motion, at second order: three step lengths tell.
TEST(EngineOrder, RigidSchemesAreOfSecondOrder) {
  constexpr double kTime = 0.4;
  const State start = cold_start(integrator("settle"));
  const auto end = [&](const std::string& scheme, double h) {
    IntegratorSpec spec = integrator(scheme, h);
    spec.tolerance = 1e-14;
    const auto engine = make_cpu_engine(cold_system(spec), start, {}, 1);
    engine->advance(std::lround(kTime / h));
    return engine->state().positions_A;
  };
  const std::vector<double> exact = end("settle", 2.5e-4);
  for (const std::string scheme : {"settle", "shake", "shake_sweeps", "rattle", "zss_infinite"}) {
    const double order =
        std::log2(relative_rms(end(scheme, 0.02), exact) / relative_rms(end(scheme, 0.01), exact));
    record("order_" + scheme, order);
    EXPECT_NEAR(order, 2.0, 0.15) << scheme;
  }
}

class EngineReversal : public ::testing::TestWithParam<std::string> {};

/// 200 steps out, velocities turned, 200 steps back.
TEST_P(EngineReversal, FindsTheWayBack) {
  for (double omega : {20.0, 100.0}) {
    IntegratorSpec spec = integrator(GetParam(), 0.05, omega);
    spec.tolerance = 1e-14;
    if (spec.scheme == Scheme::newmark_one_step) spec.timestep_akma = 0.05;
    const System system = cold_system(spec);
    const State start = cold_start(spec);
    const auto out = make_cpu_engine(system, start, {}, 1);
    out->advance(200);
    State turn = out->state();
    EXPECT_GT(relative_rms(turn.positions_A, start.positions_A), 1e-3);
    for (double& v : turn.velocities_A_per_akma) v = -v;
    const auto back = make_cpu_engine(system, turn, {}, 1);
    back->advance(200);
    const State end = back->state();
    double worst = 0.0;
    for (std::size_t k = 0; k < end.positions_A.size(); ++k) {
      worst = std::max(worst, std::fabs(end.positions_A[k] - start.positions_A[k]));
    }
    record("distance_omega_" + std::to_string(static_cast<int>(omega)), worst);
    if (spec.scheme == Scheme::newmark_one_step) {
      EXPECT_GT(worst, 1e-5);  // it is not reversible
    } else {
      EXPECT_LT(worst, is_rigid(spec.scheme) ? 1e-10 : 1e-11);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineReversal, ::testing::ValuesIn(kSchemeNames),
                         [](const auto& scheme) { return scheme.param; });

}  // namespace
}  // namespace tarn
