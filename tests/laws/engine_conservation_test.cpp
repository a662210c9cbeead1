#include "engine_fixtures.hpp"
#include "steps/step_parameters.hpp"
#include "tarn/analysis/errors.hpp"
#include "worst.hpp"

/// @file
/// Conservation of energy and momenta, order of accuracy and reversibility of deterministic steps.
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

/// Largest drift that a fluctuation with this rms over this time can show, by Schwarz's inequality:
/// when all of it is a straight line.
double largest_drift(double rms, double duration) { return std::sqrt(12.0) * rms / duration; }

/// Of a component of momentum: each step rounds some ten numbers an atom. Oxygen's momentum at 10 K
/// is 0.6 and a kick of 20 kcal/mol/A is 1; up to twice that. Measured are 0.06 to 0.3 of it.
double momentum_rounding(double steps) { return rounding(steps, 21 * 10, 2.0); }
/// Of angular momentum: two terms with arms of up to 4 A, which round as well. Measured are 0.1 to
/// 0.4 of it.
double angular_rounding(double steps) { return 2.0 * 4.0 * momentum_rounding(steps); }

/// Runs for `duration` and samples every tenth step.
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
  double c;                                       ///< the rms is c h^2
  double trend;                                   ///< part of the largest drift
  double momentum = 0.0, angular_momentum = 0.0;  ///< 0: roundings of double
  friend std::ostream& operator<<(std::ostream& out, const Row& r) { return out << r.name; }
};

class EngineConservation : public ::testing::TestWithParam<Row> {};

/// Conservation by each scheme for 1000 units at h = 0.05. The fluctuation of the energy is c h^2.
/// c was measured at this step, its half and its fourth; it agrees within 10 % for rigid bonds and
/// within a factor of 1.5 otherwise. The bounds allow a factor of 2 either way.
TEST_P(EngineConservation, KeepsEnergyAndMomenta) {
  const Row& row = GetParam();
  System system = cold_system(row.integrator);
  system.precision = row.precision;
  constexpr double kDuration = 1000.0;
  const Conserved c = run(system, cold_start(row.integrator), kDuration);
  const double h = row.integrator.timestep_akma, rms = row.c * h * h, steps = kDuration / h;
  EXPECT_LT(c.rms, 2.0 * rms);
  EXPECT_GT(c.rms, 0.5 * rms);
  EXPECT_LT(c.drift, row.trend * largest_drift(c.rms, kDuration));
  EXPECT_LT(c.momentum, row.momentum > 0.0 ? row.momentum : momentum_rounding(steps));
  EXPECT_LT(c.angular_momentum,
            row.angular_momentum > 0.0 ? row.angular_momentum : angular_rounding(steps));
  EXPECT_GT(c.momentum, 0.0);  // something moves
}

// Vibrations of a frequency above 0.2, some 20/cm, look like a drift of 12 sqrt(2) rms/(0.2 T^2) at
// most, 0.025 of the largest.
constexpr double kNoTrend = 0.025;
// Single precision rounds positions by 1.5e-8/sqrt(3) A at forces of 10 kcal/mol/A on 63
// coordinates: by 20000 steps at random the energy has gone 1e-4, which is 0.3 of the rms.
// Measured: 0.03 at most.
constexpr double kSingleTrend = 0.3;
// Bonds that vibrate share their energy with the rest slowly, and by no more than the rms. Over
// 1000 units zss_omega_20 has 0.1 of the largest drift; the stiff and pushed ones have 0.6, which
// with 0.8 would be two thirds of the square of the rms, and at half the step a tenth of that
// drift.
constexpr double kSlowExchange = 0.3, kSlowestExchange = 0.8;

INSTANTIATE_TEST_SUITE_P(
    All, EngineConservation,
    ::testing::Values(
        Row{"settle", integrator("settle"), Precision::double_, 0.13, kNoTrend},
        Row{"shake", integrator("shake"), Precision::double_, 0.13, kNoTrend},
        Row{"shake_sweeps", integrator("shake_sweeps"), Precision::double_, 0.13, kNoTrend},
        Row{"rattle", integrator("rattle"), Precision::double_, 0.13, kNoTrend},
        // At a step for which it is stable, 0.02.
        Row{"verlet_omega_20", integrator("verlet", 0.05, 20.0), Precision::double_, 0.11,
            kNoTrend},
        Row{"zss_omega_20", integrator("zss_structured", 0.05, 20.0), Precision::double_, 0.23,
            kSlowExchange},
        Row{"zss_dense_omega_20", integrator("zss_dense", 0.05, 20.0), Precision::double_, 0.23,
            kSlowExchange},
        Row{"zss_omega_500", integrator("zss_structured", 0.05, 500.0), Precision::double_, 0.26,
            kSlowestExchange},
        // Mixed precision keeps momentum as double does; its forces are not gradients to the last
        // bit, and torques of pairs do not cancel, by 1e-7 of forces of 10 kcal/mol/A and arms of
        // 3 A at random: over 20000 steps of 0.05, 21 atoms and 4.5 standard deviations that is
        // 4.5 * 0.05 * 1e-7 * 30 * sqrt(20000 * 21/3) = 2.5e-4. Measured: 1.3e-4.
        Row{"settle_mixed", integrator("settle"), Precision::mixed, 0.13, kNoTrend, 0.0, 2.5e-4},
        Row{"zss_omega_20_mixed", integrator("zss_structured", 0.05, 20.0), Precision::mixed, 0.23,
            kSlowExchange, 0.0, 2.5e-4},
        // Single: forces sum to a net force of some 1e-7 of their size, and velocities of 0.3
        // A/akma are rounded by 1e-8 at each of 20000 steps, both at random: oxygen's momentum by
        // 16 * 1.5e-8 = 2.4e-7, of seven, is 4.5 * 2.4e-7 * sqrt(20000 * 7/3) = 2.3e-4, and with
        // arms of up to 4 A in two terms 1.3e-3. Measured: 5e-5 and 8e-4.
        Row{"zss_omega_20_single", integrator("zss_structured", 0.05, 20.0), Precision::single,
            0.23, kSlowExchange, 2.3e-4, 1.3e-3},
        Row{"zss_infinite_single", integrator("zss_infinite"), Precision::single, 0.26,
            kSlowestExchange, 2.3e-4, 1.3e-3},
        Row{"settle_single", integrator("settle"), Precision::single, 0.13, kSingleTrend, 2.3e-4,
            1.3e-3},
        Row{"rattle_single", integrator("rattle"), Precision::single, 0.13, kSingleTrend, 2.3e-4,
            1.3e-3},
        // The forces along the bonds go into the velocities of SHAKE and out of them, 10 kcal/mol/A
        // at 20000 steps, and the inverse masses of them are rounded by up to 6e-8: that adds up,
        // to 20000 * 0.05 * 10 * 6e-8 = 6e-4 an atom, and over 21 atoms to 1.3e-2 where all are on
        // the same side; angular momentum has arms of 3 A. Measured: 4e-3 and 2.9e-2.
        Row{"shake_single", integrator("shake"), Precision::single, 0.13, kSingleTrend, 1.3e-2,
            3.9e-2},
        Row{"shake_sweeps_single", integrator("shake_sweeps"), Precision::single, 0.13,
            kSingleTrend, 1.3e-2, 3.9e-2},
        // Exactly symplectic and symmetric under rotations. Its c goes from 0.12 at this step to
        // 0.05 at half of it.
        Row{"pushforward_omega_20", integrator("pushforward", 0.05, 20.0), Precision::double_, 0.08,
            kSlowestExchange}),
    [](const auto& row) { return row.param.name; });

/// Slopes of the energy of many runs with different start velocities. A single run can appear to
/// drift because bonds exchange energy slowly with the rest; the mean slope does not. The standard
/// error of the mean gives the detectable drift.
TEST(EngineDrift, IsNoneInTheMeanOfManyRuns) {
  struct Case {
    const char* name;
    IntegratorSpec integrator;
    double seen;  ///< drift that is not there, per unit of time
    ConfinementSpec wall{};
  };
  for (const Case& c : {Case{"settle", integrator("settle"), 2e-6},
                        Case{"settle_wall", integrator("settle"), 2e-5, {2.0, 5.0}},
                        Case{"zss_wall", integrator("zss_structured"), 4e-5, {2.0, 5.0}},
                        Case{"zss_omega_20", integrator("zss_structured", 0.05, 20.0), 2e-5},
                        Case{"zss_omega_500", integrator("zss_structured", 0.05, 500.0), 2e-5},
                        Case{"zss_infinite", integrator("zss_infinite"), 2e-5},
                        Case{"pushforward", integrator("pushforward", 0.05, 20.0), 2e-5}}) {
    constexpr int kReplicas = 32, kEvery = 20, kSamples = 1000;
    System system = cold_system(c.integrator);
    system.confinement = c.wall;
    const auto engine = make_cpu_engine(
        system, replicas_at(tip3p(), minimum_of_seven(c.integrator), kReplicas, 10.0, 9, true), {},
        1);
    // Walls push the start together, and what a step changes of the energy depends on the shape.
    engine->advance(c.wall.stiffness_kcal_per_mol_A2 > 0.0 ? kEvery * kSamples : 1);
    std::vector<double> slopes(kReplicas);
    double tt = 0.0;
    for (int k = 0; k < kSamples; ++k) {
      engine->advance(kEvery);
      Frame f;
      engine->snapshot(kConservation, f);
      ASSERT_EQ(f.conservation.size(), slopes.size());
      // From the middle of the run, so that neither mean matters.
      const double t = (k - 0.5 * (kSamples - 1)) * kEvery * c.integrator.timestep_akma;
      tt += t * t;
      for (std::size_t r = 0; r < slopes.size(); ++r) {
        slopes[r] += t * f.conservation[r].energy_kcal_per_mol;
      }
    }
    for (double& slope : slopes) slope /= tt;
    const analysis::MeanError drift = analysis::mean_and_error(slopes);
    record(std::string(c.name) + "_drift", drift.mean);
    record(std::string(c.name) + "_error", drift.error);
    EXPECT_LT(std::fabs(drift.mean), 4.5 * drift.error) << c.name;
    EXPECT_LT(4.5 * drift.error, c.seen) << c.name;
  }
}

/// Each step restores the bond lengths: they do not drift in 10^5 steps in single precision. A
/// squared length of 2.3 A^2 is accurate to about eight float roundings, the tolerance of SHAKE,
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

/// The full Hessian conserves momentum, but not angular momentum.
TEST(FullHessian, DoesNotKeepAngularMomentum) {
  const IntegratorSpec full = integrator("zss_full", 0.05, 20.0);
  const Conserved c = run(cold_system(full), cold_start(full), 100.0);
  EXPECT_LT(c.momentum, momentum_rounding(100.0 / full.timestep_akma));
  EXPECT_GT(c.angular_momentum, 1e-3);
}

/// The total Hessian is invariant under translation and conserves momentum; its blocks of single
/// molecules bind them to the positions of the others and do not.
TEST(StudyHessians, TotalKeepsMomentumAndMoleculeDoesNot) {
  IntegratorSpec spec = integrator("zss_total", 0.05, 20.0);
  spec.omega = 20.0;
  EXPECT_LT(run(cold_system(spec), cold_start(spec), 20.0).momentum,
            momentum_rounding(20.0 / spec.timestep_akma));
  spec.hessian = Hessian::molecule;
  EXPECT_GT(run(cold_system(spec), cold_start(spec), 20.0).momentum, 1e-4);
}

/// One step of Newton's method is not sufficient: energy drifts over 100 times as fast as with Z&Ss
/// at the same step, and the run blows up after about 270 units.
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

/// SHAKE by sweeps drifts in energy with a loose tolerance. Newton's iteration does not at the same
/// tolerance, because its last step squares the error.
TEST(ShakeTolerance, ShowsAsDrift) {
  constexpr double kDuration = 1000.0;
  const auto conserved = [](const std::string& scheme, double tolerance) {
    IntegratorSpec spec = integrator(scheme);
    spec.tolerance = tolerance;
    return run(cold_system(spec), cold_start(spec), kDuration);
  };
  const Conserved loose = conserved("shake_sweeps", 1e-4), tight = conserved("shake_sweeps", 1e-8),
                  newton = conserved("shake", 1e-4);
  record("loose", loose.drift);
  record("tight", tight.drift);
  record("newton", newton.drift);
  EXPECT_GT(loose.drift, 10.0 * tight.drift);
  for (const Conserved& c : {tight, newton}) {
    EXPECT_LT(c.drift, kNoTrend * largest_drift(c.rms, kDuration));
  }
}

/// A wall about the centre of mass, with recoil, conserves energy and both momenta: it is a central
/// force about the centre. The wall must act during the test. Steps are less accurate at the kink
/// of its force: the rms is c h^2 with c of 0.7 to 0.8 and 1.8 to 2.3, measured at this step, its
/// half and its fourth.
TEST(Wall, KeepsEnergyAndMomenta) {
  for (const auto& [scheme, c] : {std::pair{"settle", 0.75}, {"zss_structured", 2.0}}) {
    System system = cold_system(integrator(scheme));
    const double h = system.integrator.timestep_akma;
    const State start = cold_start(system.integrator);
    const Conserved without = run(system, start, 200.0);
    system.confinement = {2.0, 5.0};
    const Conserved with = run(system, start, 200.0);
    EXPECT_LT(with.momentum, momentum_rounding(200.0 / h)) << scheme;
    EXPECT_LT(with.angular_momentum, angular_rounding(200.0 / h)) << scheme;
    EXPECT_LT(with.rms, 2.0 * c * h * h) << scheme;
    EXPECT_GT(with.rms, 1.5 * without.rms) << scheme;
  }
}

/// E_N is conserved to second order: its fluctuation is four times smaller at half the step. The
/// next term is smaller by h^2, so the deviation of the order is four times smaller at half the
/// step: measured are 0.023 and 0.007. The bounds are twice that.
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
    constexpr double kNextTerm = 0.05;
    EXPECT_NEAR(std::log2(rms[0] / rms[1]), 2.0, kNextTerm);
    EXPECT_NEAR(std::log2(rms[1] / rms[2]), 2.0, kNextTerm / 4.0);
  }
}

/// For a linear force E_N is exact at any h omega. A free molecule that vibrates by 1e-5 A is
/// linear to 1e-5; the plain energy of the same motion, without the term in b - 1/4, oscillates.
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
        const double plain = e.kinetic_kcal_per_mol + e.bond_kcal_per_mol;
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

/// An independent velocity Verlet on V0 + V1, for the solution that Z&Ss approaches.
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

// The next term is smaller by x^2, with x = 0.45 and less the step times the fastest frequency of
// the bonds, 4.5438 omega. A factor of a before it makes the order off by 1.1 a x^2 at the longest
// step and a fourth of that at its half; a = 2. Measured are 0.28 of 0.45 and 0.019 of 0.11. The
// reference is off by 1/4000 of the finest error.
TEST(EngineOrder, ZssIsOfSecondOrder) {
  constexpr double kOmega = 20.0, kTime = 0.4, kLongest = 0.005;
  const double next_term = 2.0 * 0.75 / std::log(2.0) * std::pow(kLongest * 4.5438 * kOmega, 2);
  const State start = cold_start(integrator("zss_structured", 0.05, kOmega));
  PenalisedVerlet exact(kOmega, start, 2e-5);
  exact.advance(20000);
  for (const std::string scheme : {"zss_structured", "zss_dense", "zss_full", "zss_molecule",
                                   "zss_total", "pushforward", "verlet"}) {
    SCOPED_TRACE(scheme);
    double x_error[3], v_error[3], q_error[3];
    for (int k = 0; k < 3; ++k) {
      const double h = kLongest / (1 << k);
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
      EXPECT_NEAR(order, 2.0, next_term / 4.0) << name;
      EXPECT_NEAR(std::log2(error[0] / error[1]), 2.0, next_term) << name;
    }
  }
}

/// All rigid schemes approach the same motion at second order, tested with three steps. The next
/// term makes the order of the constrained ones off by 0.012 at twice the step and by a fourth of
/// it here, as was measured; the reference, of 1/40 of the finer step, by 0.0007. Z&Ss at infinite
/// omega has at x an oscillation of order h^2 of its own, whose phase at the end is any: the order
/// is off by 0.02 to 0.04 at each of three steps, to either side.
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
    EXPECT_NEAR(order, 2.0, scheme == "zss_infinite" ? 0.1 : 0.01) << scheme;
  }
}

class EngineReversal : public ::testing::TestWithParam<std::string> {};

/// 200 steps, reversal of the velocities, 200 steps. Each of the 400 steps rounds positions of 3.2
/// A, and velocities of 0.5 A/akma about four times, whose errors grow for 20 akma. Rigid schemes
/// first correct the bonds of the start.
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
      EXPECT_LT(worst,
                rounding(400, 4, 3.2 + 0.5 * 20.0) +
                    (is_rigid(spec.scheme) ? 2.0 * worst_length(tip3p(), start.positions_A) : 0.0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineReversal, ::testing::ValuesIn(kSchemeNames),
                         [](const auto& scheme) { return scheme.param; });

}  // namespace
}  // namespace tarn
