#include "engine_fixtures.hpp"

/// @file
/// Order, reversal and conservation of the schemes with flexible models.

namespace tarn {
namespace {

using namespace test;

const WaterModel& model_named(const char* name) {
  static std::map<std::string, WaterModel> models;
  return models.try_emplace(name, *find_water_model(name)).first->second;
}

/// Seven molecules at a minimum, with velocities of a temperature and no momentum.
State start_of_seven(const WaterModel& model, double temperature_K, int replicas = 1) {
  std::vector<double> x = lattice_cluster(model, 7, 3);
  ForceField force_field(model, 7);
  quench(force_field, x, {1e-6, 5000});
  return replicas_at(model, x, replicas, temperature_K, 5, false);
}
System system_of_seven(const WaterModel& model, const std::string& scheme, double timestep_akma) {
  System s;
  s.model = model;
  s.molecules = 7;
  s.integrator.scheme = scheme == "flexible_verlet" ? Scheme::verlet : Scheme::zss_stiff;
  s.integrator.timestep_akma = timestep_akma;
  return s;
}

/// Positions and velocities of an independent velocity Verlet with forces of the force field.
State exact_motion(const WaterModel& model, const State& start, double h, long steps) {
  ForceField force_field(model, start.molecules);
  State s = start;
  std::vector<double>&x = s.positions_A, &v = s.velocities_A_per_akma, f(x.size());
  const auto kick = [&] {
    for (std::size_t k = 0; k < x.size(); ++k) {
      v[k] += 0.5 * h * f[k] / model.mass_Da(static_cast<int>(k % 9 / 3));
    }
  };
  force_field.energy_and_forces(x, f);
  for (long i = 0; i < steps; ++i) {
    kick();
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += h * v[k];
    force_field.energy_and_forces(x, f);
    kick();
  }
  return s;
}

/// Errors at a fixed time are of second order. The next term is smaller by (h w)^2, with a highest
/// frequency w of 36 per akma unit (3900/cm): at the longest step of 0.004 akma it may change the
/// order by 2 (0.144)^2 = 0.04, at half of it by a fourth of that.
TEST(FlexibleOrder, IsTwo) {
  constexpr double kTime = 0.2, kLongest = 0.004, kNextTerm = 0.05;
  for (const WaterModel& model : kFlexibleWaterModels) {
    const State start = start_of_seven(model, 300.0);
    const State exact = exact_motion(model, start, 1e-5, std::lround(kTime / 1e-5));
    for (const std::string& scheme : kFlexibleSchemeNames) {
      SCOPED_TRACE(std::string(model.name) + ", " + scheme);
      double x_error[3], v_error[3];
      for (int k = 0; k < 3; ++k) {
        const double h = kLongest / (1 << k);
        const auto engine = make_cpu_engine(system_of_seven(model, scheme, h), start, {}, 1);
        engine->advance(std::lround(kTime / h));
        const State end = engine->state();
        x_error[k] = relative_rms(end.positions_A, exact.positions_A);
        v_error[k] = relative_rms(end.velocities_A_per_akma, exact.velocities_A_per_akma);
      }
      for (const double* error : {x_error, v_error}) {
        EXPECT_NEAR(std::log2(error[0] / error[1]), 2.0, kNextTerm);
        EXPECT_NEAR(std::log2(error[1] / error[2]), 2.0, kNextTerm / 4.0);
      }
    }
  }
}

/// 200 steps, reversal of the velocities, 200 steps: as in EngineReversal, with errors that grow
/// with the motion of 0.1 akma units.
TEST(FlexibleReversal, FindsTheWayBack) {
  for (const WaterModel& model : kFlexibleWaterModels) {
    const State start = start_of_seven(model, 100.0);
    for (const std::string& scheme : kFlexibleSchemeNames) {
      SCOPED_TRACE(std::string(model.name) + ", " + scheme);
      const double h = scheme == "flexible_verlet" ? 0.01 : 0.04;
      const System system = system_of_seven(model, scheme, h);
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
      // Positions of up to 8 A; bonds at 100 K are chaotic on a scale of 1 akma unit, of which
      // there are sixteen with Z&Ss: rounding errors may grow tenfold.
      EXPECT_LT(worst, 10.0 * rounding(400, 4, 8.0 + 0.5 * 20.0));
    }
  }
}

struct EnergyCourse {
  double rms = 0.0, drift_per_akma = 0.0;
};
/// Mean over replicas of rms fluctuation and slope of the conserved energy.
EnergyCourse energy_course(const System& system, const State& start, double duration,
                           double interval) {
  const auto engine = make_cpu_engine(system, start, {}, 2);
  const auto every =
      static_cast<std::int64_t>(std::lround(interval / system.integrator.timestep_akma));
  const int samples = static_cast<int>(std::lround(duration / interval));
  const std::size_t replicas = start.replica_ids.size();
  std::vector<std::vector<double>> energies(replicas);
  Frame frame;
  for (int k = 0; k <= samples; ++k) {
    if (k > 0) engine->advance(every);
    engine->snapshot(kEnergies, frame);
    EXPECT_EQ(frame.energies.size(), replicas);
    for (std::size_t r = 0; r < frame.energies.size(); ++r) {
      energies[r].push_back(frame.energies[r].total_kcal_per_mol);
    }
  }
  EnergyCourse mean;
  for (const std::vector<double>& e : energies) {
    double t_mean = 0.5 * duration, e_mean = 0.0, te = 0.0, tt = 0.0, ee = 0.0;
    for (const double v : e) e_mean += v / static_cast<double>(e.size());
    for (std::size_t k = 0; k < e.size(); ++k) {
      const double t = static_cast<double>(k) * interval - t_mean;
      te += t * (e[k] - e_mean);
      tt += t * t;
      ee += (e[k] - e_mean) * (e[k] - e_mean);
    }
    mean.rms += std::sqrt(ee / static_cast<double>(e.size())) / static_cast<double>(replicas);
    mean.drift_per_akma += te / tt / static_cast<double>(replicas);
  }
  return mean;
}

/// The rms fluctuation of the energy is c h^2: slopes between 0.25 fs, its double and its fourfold.
/// The next term is smaller by (h w)^2/4 with h w = 0.37 at 0.5 fs.
TEST(FlexibleConservation, FluctuationIsOfSecondOrder) {
  const WaterModel& model = model_named("qtip4pf");
  const State start = start_of_seven(model, 298.0, 8);
  const double h = units::akma_from_fs(0.125);
  double rms[3];
  for (int k = 0; k < 3; ++k) {
    const System system = system_of_seven(model, "flexible_verlet", h * (1 << k));
    rms[k] = energy_course(system, start, 40.0 * h * 100, 4 * h).rms;
  }
  EXPECT_NEAR(std::log2(rms[1] / rms[0]), 2.0, 0.1);
  EXPECT_NEAR(std::log2(rms[2] / rms[1]), 2.0, 0.1);
  RecordProperty("rms_0.25_fs", std::to_string(rms[1]));
}

/// Velocity Verlet has no drift at 0.25 fs: the slope over 5 ps, mean of 16 replicas, is below what
/// fluctuations of the rms make of it (samples are independent after an interval of 5 fs), 4.5
/// standard errors. Single precision rounds positions by 1.5e-8/sqrt(3) A per step against forces
/// of 100 kcal/mol/A along bonds, at random: over 20000 steps of 63 coordinates 1e-3 kcal/mol.
TEST(FlexibleConservation, VerletHasNoDrift) {
  for (const Precision precision : {Precision::double_, Precision::mixed, Precision::single}) {
    const WaterModel& model = model_named("qtip4pf");
    constexpr int kReplicas = 16;
    const State start = start_of_seven(model, 298.0, kReplicas);
    const double h = units::akma_from_fs(0.25), duration = 20'000 * h, interval = 20 * h;
    System system = system_of_seven(model, "flexible_verlet", h);
    system.precision = precision;
    const EnergyCourse course = energy_course(system, start, duration, interval);
    const double samples = duration / interval;
    const double of_fluctuation = course.rms * std::sqrt(12.0 / (samples * kReplicas)) / duration;
    const double of_rounding =
        precision == Precision::single ? 1e-3 / (duration * std::sqrt(1.0 * kReplicas)) : 0.0;
    RecordProperty(std::string("drift_over_error_") + name_of(precision),
                   std::to_string(course.drift_per_akma / (of_fluctuation + of_rounding)));
    EXPECT_LT(std::fabs(course.drift_per_akma), 4.5 * (of_fluctuation + of_rounding))
        << name_of(precision);
  }
}

/// The energies of a frame are those of its positions, in small and in large clusters.
TEST(FlexibleEnergies, IncludeTheIntramolecularEnergy) {
  const WaterModel& model = model_named("qtip4pf");
  for (const int molecules : {7, 70}) {
    System system = make_system({"flexible_verlet", Bath::none}, tip4p(), molecules);
    system.model = model;
    const auto engine = make_cpu_engine(system, start_state(system, {3, 4}), {}, 1);
    engine->advance(20);
    Frame frame;
    engine->snapshot(kEnergies | kPositions | kConservation, frame);
    ASSERT_EQ(frame.live(), 2u);
    ForceField force_field(model, molecules);
    for (std::size_t r = 0; r < 2; ++r) {
      const Energies& e = frame.energies[r];
      const ClusterEnergy expected = force_field.energy(frame.positions_A_of(r));
      const double size = 100.0 * molecules;
      EXPECT_NEAR(e.bond_kcal_per_mol, expected.intramolecular_kcal_per_mol, few_roundings(size));
      EXPECT_NEAR(e.potential_kcal_per_mol, expected.between_molecules_kcal_per_mol(),
                  few_roundings(size));
      EXPECT_NEAR(e.total_kcal_per_mol, expected.total_kcal_per_mol() + e.kinetic_kcal_per_mol,
                  few_roundings(size));
      EXPECT_EQ(frame.conservation[r].constraint_max_A2, 0.0);
    }
  }
}

/// Rigid schemes, dense solves and study Hessians do not exist for flexible molecules.
TEST(FlexibleSystems, RefuseOtherSchemes) {
  const WaterModel& model = model_named("spcfw");
  const State start = start_of_seven(model, 100.0);
  for (const std::string scheme : {"shake", "rattle", "settle", "zss_dense", "zss_full",
                                   "zss_total", "pushforward", "one_step"}) {
    System system = system_of_seven(model, "flexible_zss", 0.01);
    system.integrator = integrator(scheme);
    EXPECT_THROW(make_cpu_engine(system, start, {}, 1), InputError) << scheme;
  }
}

}  // namespace
}  // namespace tarn
