#include "interface/measure.hpp"
#include "ring_fixtures.hpp"
#include "tarn/analysis/errors.hpp"

/// @file
/// Isotopes by molecule in the CPU engine. Steps are compared with their equations in
/// engine_accuracy_test.cpp, and bits in engine_laws_test.cpp.

namespace tarn {
namespace {

using namespace test;
using analysis::mean_and_error;
using analysis::MeanError;

constexpr double kSigmas = 4.5;

/// The masses of the model as isotopes change the results by rounding only.
TEST(IsotopeEngine, MassesOfTheModelGiveTheSameSteps) {
  for (const EngineCase& c : isotope_cases()) {
    SCOPED_TRACE(c.name());
    System system = make_system(c, tip4p(), 7);
    system.integrator.tolerance = 1e-14;
    System plain = system;
    plain.atom_masses_Da.clear();
    const WaterModel& model = system.model;
    system.atom_masses_Da.assign(7, {model.mass_o_Da, model.mass_h_Da, model.mass_h_Da});
    const State start = start_state(plain, {3, 10});
    const auto with = make_cpu_engine(system, start, {}, 1),
               without = make_cpu_engine(plain, start, {}, 1);
    Frame a, b;
    for (Engine* engine : {with.get(), without.get()}) {
      engine->advance(3);
      engine->snapshot(kPositions | kVelocities | kEnergies | kShape | kMultipliers,
                       engine == with.get() ? a : b);
    }
    double x = 0.0, v = 0.0, lambda = 0.0;
    for (std::size_t k = 0; k < a.positions_A.size(); ++k) {
      x = std::max(x, std::fabs(a.positions_A[k] - b.positions_A[k]));
      v = std::max(v, std::fabs(a.velocities_A_per_akma[k] - b.velocities_A_per_akma[k]));
    }
    for (std::size_t k = 0; k < a.multipliers_kcal_per_mol_A2.size(); ++k) {
      const double difference = a.multipliers_kcal_per_mol_A2[k] - b.multipliers_kcal_per_mol_A2[k];
      if (!system.model.is_flexible()) lambda = std::max(lambda, std::fabs(difference));
    }
    // Three steps of rounding, which rigid velocities divide by h; sweeps end at 1e-14.
    EXPECT_LT(x, 1e-12);
    EXPECT_LT(v, 1e-11);
    EXPECT_LT(lambda, 1e-6);  // 1e-11 times a kcal/mol/A^2 per velocity, or omega^2 times x
    EXPECT_NEAR(a.energies[0].temperature_K, b.energies[0].temperature_K, 1e-8);
    EXPECT_NEAR(a.shape[1].farthest_oxygen_A, b.shape[1].farthest_oxygen_A, 1e-12);
  }
}

struct Drift {
  double energy_rms, momentum, angular_momentum, constraint;
};
Drift drift_of(const std::string& scheme, double h, double duration) {
  System system = make_system({scheme, Bath::none, true}, tip3p(), 7);
  system.integrator = integrator(scheme, h, 20.0);
  system.integrator.timestep_akma = h;
  std::vector<double> x = reference_positions(7);
  if (is_flexible_scheme(scheme) || !is_rigid(system.integrator.scheme)) {
    ForceField force_field(system.model, 7);
    system.model.is_flexible() ? quench(force_field, x) : relax_penalised(force_field, 20.0, x);
  }
  State start = replicas_at(system.model, x, 1, 10.0, 1, true);
  const auto engine = make_cpu_engine(system, start, {}, 1);
  Drift d{};
  Frame first, f;
  engine->snapshot(kConservation, first);
  std::vector<double> energies;
  const auto steps = static_cast<int>(std::lround(duration / h / 100.0));
  for (int k = 0; k <= 100; ++k) {
    engine->snapshot(kConservation, f);
    const Conservation &now = f.conservation.at(0), &then = first.conservation[0];
    energies.push_back(now.energy_kcal_per_mol);
    for (std::size_t c = 0; c < 3; ++c) {
      d.momentum = std::max(
          d.momentum, std::fabs(now.momentum_Da_A_per_akma[c] - then.momentum_Da_A_per_akma[c]));
      d.angular_momentum =
          std::max(d.angular_momentum, std::fabs(now.angular_momentum_Da_A2_per_akma[c] -
                                                 then.angular_momentum_Da_A2_per_akma[c]));
    }
    // The start satisfies the constraints to 6e-13 only.
    if (k > 0) d.constraint = std::max(d.constraint, now.constraint_max_A2);
    engine->advance(steps);
  }
  const double mean = std::accumulate(energies.begin(), energies.end(), 0.0) / 101.0;
  for (const double e : energies) d.energy_rms += (e - mean) * (e - mean) / 101.0;
  d.energy_rms = std::sqrt(d.energy_rms);
  return d;
}

/// Second order: the error of the energy at half the step is a quarter, within the scatter of 101
/// samples at other phases of the vibrations. Momenta change by rounding.
TEST(IsotopeEngine, ConservesEnergyAndMomenta) {
  for (const char* scheme :
       {"settle", "shake", "shake_sweeps", "rattle", "zss_structured", "flexible_verlet"}) {
    SCOPED_TRACE(scheme);
    const double h = scheme == std::string("flexible_verlet") ? 0.01 : 0.04;
    const Drift whole = drift_of(scheme, h, 160.0), half = drift_of(scheme, 0.5 * h, 160.0);
    EXPECT_GT(whole.energy_rms / half.energy_rms, 2.8);
    EXPECT_LT(whole.energy_rms / half.energy_rms, 5.7);
    // As in engine_conservation_test.cpp, where it is up to 2e-11.
    EXPECT_LT(half.momentum, 1e-10);
    EXPECT_LT(half.angular_momentum, 1e-9);
    EXPECT_GT(half.momentum, 0.0);
    // Both ends of a bond of up to 1.6 A round by up to 9e-16 in each coordinate, by the drift and
    // by the sum; or the tolerance of 1e-8 of SHAKE, twice these 2.3 A^2.
    if (is_rigid(integrator(scheme).scheme)) {
      EXPECT_LT(half.constraint, scheme == std::string("settle") ? 2e-14 : 5e-8);
    }
  }
}

/// Half a kT per coordinate of each isotope: flexible molecules, at a step so short that its error
/// of the velocities, (omega h/2)^2 or 1e-3 for the O-H bonds, is below the errors.
TEST(IsotopeEngine, EachIsotopeIsAtTheTemperature) {
  constexpr double kTemperature_K = 50.0;
  constexpr int kReplicas = 256;
  for (const Bath bath : {Bath::gla, Bath::gla_per_mass}) {
    System system = make_system({"flexible_verlet", bath, true}, tip3p(), 7);
    system.integrator.timestep_akma = 0.004;
    system.thermostat = thermostat(bath, kTemperature_K, 1.0);
    system.confinement = {};
    std::vector<double> x = reference_positions(7);
    ForceField force_field(system.model, 7);
    quench(force_field, x);
    const auto engine = make_cpu_engine(
        system, replicas_at(system.model, x, kReplicas, kTemperature_K, 3, false), {});
    engine->advance(2500);
    std::map<std::string, std::vector<double>> by_atom;
    constexpr int kSamples = 4;
    for (int sample = 0; sample < kSamples; ++sample) {
      engine->advance(500);
      Frame f;
      engine->snapshot(kVelocities, f);
      ASSERT_TRUE(engine->blow_ups().empty());
      for (std::size_t r = 0; r < kReplicas; ++r) {
        std::map<std::string, std::pair<double, double>> sums;
        for (int m = 0; m < 7; ++m) {
          for (int a = 0; a < 3; ++a) {
            const double mass = mass_of(system, m, a);
            const double* const v =
                &f.velocities_A_per_akma[(r * 7 + static_cast<std::size_t>(m)) * 9 +
                                         static_cast<std::size_t>(3 * a)];
            auto& [sum, count] = sums[a == 0 ? "O" : std::string(1, hydrogen_symbol(mass))];
            sum += mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            count += 3.0 * units::boltzmann_kcal_per_mol_K;
          }
        }
        for (const auto& [name, sum] : sums) {
          by_atom[name].resize(kReplicas);
          by_atom[name][r] += sum.first / sum.second / kSamples;
        }
      }
    }
    ASSERT_EQ(by_atom.size(), 4u);  // O, H, D, T
    for (const auto& [name, values] : by_atom) {
      const MeanError t = mean_and_error(values);
      EXPECT_NEAR(t.mean, kTemperature_K, kSigmas * t.error) << name;
      EXPECT_LT(t.error, 0.02 * kTemperature_K) << name;
    }
  }
}

/// Classical averages of positions do not depend on the masses.
TEST(IsotopeEngine, PotentialEnergyIsIndependentOfMasses) {
  constexpr double kTemperature_K = 40.0;
  constexpr int kReplicas = 256;
  MeanError means[2];
  for (const bool isotopes : {false, true}) {
    System system = make_system({"settle", Bath::baoab, isotopes}, tip3p(), 3);
    system.thermostat = thermostat(Bath::baoab, kTemperature_K, 0.5);
    std::vector<double> x = lattice_cluster(system.model, 3, 2);
    ForceField force_field(system.model, 3);
    quench(force_field, x);
    const auto engine = make_cpu_engine(
        system, replicas_at(system.model, x, kReplicas, kTemperature_K, 3, true), {});
    engine->advance(1000);
    std::vector<double> energies(kReplicas, 0.0);
    for (int sample = 0; sample < 20; ++sample) {
      engine->advance(100);
      Frame f;
      engine->snapshot(kEnergies, f);
      for (std::size_t r = 0; r < kReplicas; ++r) {
        energies[r] += f.energies[r].potential_kcal_per_mol / 20.0;
      }
    }
    means[isotopes] = mean_and_error(energies);
  }
  const double error = std::hypot(means[0].error, means[1].error);
  EXPECT_NEAR(means[0].mean, means[1].mean, kSigmas * error);
  EXPECT_LT(error, 0.05);
}

/// Ring polymers step by their equations, and their kinetic energies by isotope are those of the
/// atoms.
TEST(IsotopeEngine, RingPolymersSolveTheEquations) {
  for (const Bath bath : {Bath::none, Bath::gla_per_mass, Bath::baoab}) {
    for (const int beads : {4, 6}) {
      System system = ring_system(beads, bath);
      system.thermostat.temperatures_K.clear();
      system.confinement = {};
      system.atom_masses_Da = mixed_isotopes(3);
      const State start = ring_start(system, {3, 5});
      const auto engine = make_cpu_engine(system, start, {}, 1);
      PlainRing plain(system, start);
      for (int step = 0; step < 3; ++step) plain.step();
      engine->advance(3);
      const State to = engine->state();
      double x = 0.0, v = 0.0;
      for (std::size_t k = 0; k < plain.q().size(); ++k) {
        for (std::size_t c = 0; c < to.coordinates(); ++c) {
          const std::size_t at = k * to.coordinates() + c;
          x = std::max(x, std::fabs(to.positions_A[at] - plain.q()[k][c]));
          v = std::max(v, std::fabs(to.velocities_A_per_akma[at] - plain.v()[k][c]));
        }
      }
      EXPECT_LT(x, 1e-12);
      EXPECT_LT(v, 1e-11);
      Frame f;
      engine->snapshot(kRings | kEnergies | kAtomKinetic, f);
      RingMeasures m;
      put_hydrogen_kinetics(system, std::span(f.atom_kinetic_kcal_per_mol).first(9), m);
      EXPECT_EQ(f.rings[0].kinetic_d_kcal_per_mol, m.kinetic_d_kcal_per_mol);
      // HDO, D2O18, H2O: three protons and three deuterons.
      const double* const k = f.atom_kinetic_kcal_per_mol.data();
      EXPECT_NEAR(m.kinetic_d_kcal_per_mol, (k[2] + k[4] + k[5]) / 3.0, 1e-12);
      EXPECT_NEAR(m.kinetic_h_kcal_per_mol, (k[1] + k[7] + k[8]) / 3.0, 1e-12);
    }
  }
}

TEST(IsotopeEngine, RejectsWhatItDoesNotSupport) {
  System system = make_system({"settle", Bath::none, true}, tip3p(), 3);
  const State start = start_state(system, {0});
  System single = system;
  single.precision = Precision::single;
  EXPECT_THROW(make_cpu_engine(single, start, {}, 1), InputError);
  System fewer = system;
  fewer.atom_masses_Da.pop_back();
  EXPECT_THROW(make_cpu_engine(fewer, start, {}, 1), InputError);
  System massless = system;
  massless.atom_masses_Da[1][2] = 0.0;
  EXPECT_THROW(make_cpu_engine(massless, start, {}, 1), InputError);
}

}  // namespace
}  // namespace tarn
