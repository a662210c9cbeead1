#include "engine_fixtures.hpp"
#include "tarn/analysis/errors.hpp"

/// @file
/// What the thermostat makes of many replicas: the same temperature in every kind of motion, and
/// the closed forms of a free molecule. All bounds are 4.5 standard errors, from the scatter of
/// independent replicas; another processor is like another seed.

namespace tarn {
namespace {

using namespace test;
using analysis::mean_and_error;
using analysis::MeanError;

constexpr double kSigmas = 4.5;
constexpr double kTemperature = 10.0;

/// Kinetic energies of one molecule.
struct Motion {
  double translation, rotation, bonds;
};
Motion motion(const WaterModel& model, const double* x, const double* v) {
  using Vector = Eigen::Vector3d;
  const auto atom = [](const double* c, int a) { return Vector(c + 3 * a); };
  Vector centre = Vector::Zero(), velocity = Vector::Zero();
  for (int a = 0; a < 3; ++a) {
    centre += model.mass_Da(a) / model.molecule_mass_Da() * atom(x, a);
    velocity += model.mass_Da(a) / model.molecule_mass_Da() * atom(v, a);
  }
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  Vector spin = Vector::Zero();
  double kinetic = 0.0;
  for (int a = 0; a < 3; ++a) {
    const Vector d = atom(x, a) - centre;
    inertia +=
        model.mass_Da(a) * (d.squaredNorm() * Eigen::Matrix3d::Identity() - d * d.transpose());
    spin += model.mass_Da(a) * d.cross(Vector(atom(v, a) - velocity));
    kinetic += 0.5 * model.mass_Da(a) * atom(v, a).squaredNorm();
  }
  const double translation = 0.5 * model.molecule_mass_Da() * velocity.squaredNorm();
  const double rotation = 0.5 * spin.dot(inertia.ldlt().solve(spin));
  return {translation, rotation, kinetic - translation - rotation};
}

/// A name that ends in _single has that precision.
System bath_system(const EngineCase& c, int molecules, double rate_per_akma) {
  constexpr std::string_view suffix = "_single";
  const bool single = c.scheme.ends_with(suffix);
  System s;
  s.model = tip3p();
  s.molecules = molecules;
  s.integrator = integrator(c.scheme.substr(0, c.scheme.size() - (single ? suffix.size() : 0)));
  s.precision = single ? Precision::single : Precision::double_;
  s.thermostat = thermostat(c.bath, kTemperature, rate_per_akma);
  s.seed = 11;
  return s;
}

std::vector<double> minimum(const System& s) {
  std::vector<double> x =
      s.molecules == 7 ? minimum_of_seven(s.integrator) : lattice_cluster(s.model, s.molecules, 2);
  if (s.molecules == 2) {
    ForceField force_field(s.model, 2);
    quench(force_field, x);
    if (!is_rigid(s.integrator.scheme) && std::isfinite(s.integrator.omega)) {
      relax_penalised(force_field, s.integrator.omega, x);
    }
  }
  return x;
}

class Thermostat_ : public ::testing::TestWithParam<EngineCase> {};
using ThermostatEquipartition = Thermostat_;
using FreeMolecule = Thermostat_;

/// Translation, rotation and bonds have 3 N degrees of freedom each, whatever the forces; rigid
/// molecules have none in the bonds. With friction per mass and rigid bonds this needs the
/// projection before the O step: without it the temperature is several times too high.
TEST_P(ThermostatEquipartition, EachKindOfMotionIsAtTheTemperature) {
  for (const auto& [n, replicas] : {std::pair{1, 4096}, {2, 2048}, {7, 512}}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    // 0.5 per unit for hydrogens; by mass, oxygens have a sixteenth. The slowest motion is then the
    // translation, with 3 gamma/M = 0.08 per unit.
    const System system = bath_system(GetParam(), n, 0.5);
    const bool rigid = is_rigid(system.integrator.scheme);
    const auto engine = make_cpu_engine(
        system, replicas_at(system.model, minimum(system), replicas, kTemperature, 3, rigid), {});
    const double h = system.integrator.timestep_akma;
    engine->advance(std::lround(40.0 / h));
    std::vector<double> kinds[3], reported;
    for (auto& kind : kinds) kind.assign(static_cast<std::size_t>(replicas), 0.0);
    reported.assign(static_cast<std::size_t>(replicas), 0.0);
    constexpr int kSamples = 5;
    const double half_kT = 0.5 * units::boltzmann_kcal_per_mol_K;
    for (int sample = 0; sample < kSamples; ++sample) {
      engine->advance(std::lround(12.0 / h));
      Frame f;
      engine->snapshot(kVelocities | kEnergies, f);
      const State s = engine->state();
      ASSERT_TRUE(engine->blow_ups().empty());
      for (std::size_t r = 0; r < static_cast<std::size_t>(replicas); ++r) {
        const Energies& e = f.energies[r];
        const double now[3] = {e.temperature_translation_K, e.temperature_rotation_K,
                               e.temperature_bond_K};
        for (std::size_t kind = 0; kind < 3; ++kind) kinds[kind][r] += now[kind] / kSamples;
        reported[r] += e.temperature_K / kSamples;
        if (system.thermostat.kind != Thermostat::gla) continue;
        // BAOAB measures where no snapshot can; for GLA the classes are those of the velocities.
        double own[3] = {0.0, 0.0, 0.0};
        for (std::size_t m = 0; m < static_cast<std::size_t>(n); ++m) {
          const std::size_t at = r * s.coordinates() + 9 * m;
          const Motion k = motion(system.model, &s.positions_A[at], &f.velocities_A_per_akma[at]);
          own[0] += k.translation / (3.0 * n * half_kT);
          own[1] += k.rotation / (3.0 * n * half_kT);
          own[2] += k.bonds / (3.0 * n * half_kT);
        }
        for (int kind = 0; kind < 3; ++kind) {
          ASSERT_NEAR(now[kind], own[kind], 1e-9 * kTemperature);
        }
      }
    }
    const char* names[] = {"translation", "rotation", "bonds"};
    for (int kind = 0; kind < 3; ++kind) {
      const MeanError t = mean_and_error(kinds[kind]);
      RecordProperty(std::string(names[kind]) + "_" + std::to_string(n),
                     std::to_string(t.mean) + " +- " + std::to_string(t.error));
      if (rigid && kind == 2) {
        // Nothing moves along the bonds but rounding, or SHAKE's tolerance.
        EXPECT_LT(std::fabs(t.mean), 1e-6 * kTemperature);
        continue;
      }
      EXPECT_NEAR(t.mean, kTemperature, kSigmas * t.error) << names[kind];
      // The error is that of kSamples samples of 3 N normal numbers or less; a larger one would
      // make the test blunt.
      EXPECT_LT(t.error, 1.3 * kTemperature * std::sqrt(2.0 / (3.0 * n * replicas)));
      EXPECT_GT(t.error, 0.8 * kTemperature * std::sqrt(2.0 / (3.0 * n * replicas * kSamples)));
    }
    const MeanError t = mean_and_error(reported);
    EXPECT_NEAR(t.mean, kTemperature, kSigmas * t.error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ThermostatEquipartition,
    ::testing::Values(
        EngineCase{"zss_structured", Bath::gla}, EngineCase{"zss_structured", Bath::gla_per_mass},
        EngineCase{"zss_infinite", Bath::gla}, EngineCase{"shake", Bath::gla},
        EngineCase{"shake", Bath::gla_per_mass}, EngineCase{"settle", Bath::gla},
        EngineCase{"settle", Bath::gla_per_mass}, EngineCase{"zss_structured", Bath::baoab},
        EngineCase{"shake", Bath::baoab_per_mass}, EngineCase{"settle", Bath::baoab},
        EngineCase{"settle", Bath::baoab_per_mass},
        EngineCase{"zss_structured_single", Bath::gla_per_mass},
        EngineCase{"zss_infinite_single", Bath::gla},
        EngineCase{"zss_structured_single", Bath::baoab},
        EngineCase{"settle_single", Bath::gla_per_mass}, EngineCase{"settle_single", Bath::baoab},
        EngineCase{"shake_single", Bath::baoab_per_mass}),
    EngineCaseName());

/// A free molecule: its centre of mass feels no force, so that
///   v_{n+1} = c v_n + noise, x_{n+1} = x_n + h v_n,  c = exp(-rate h),
///   <v_0 v_n> = (3 kT/M) c^n,
///   <|x_n - x_0|^2> = h^2 (3 kT/M) (n + 2 sum_{j=1}^{n-1} (n - j) c^j).
TEST_P(FreeMolecule, VelocityCorrelationAndDiffusionAreExact) {
  constexpr int kReplicas = 8192;
  constexpr double kRate = 0.4;
  const System system = bath_system(GetParam(), 1, kRate);
  const bool rigid = is_rigid(system.integrator.scheme);
  const auto engine = make_cpu_engine(system,
                                      replicas_at(system.model, lattice_cluster(system.model, 1, 2),
                                                  kReplicas, kTemperature, 3, rigid),
                                      {});
  const double h = system.integrator.timestep_akma;
  const double c = std::exp(-kRate * h);
  const double variance =
      units::boltzmann_kcal_per_mol_K * kTemperature / system.model.molecule_mass_Da();
  const auto centre = [&](const double* nine, std::size_t d) {
    return (system.model.mass_o_Da * nine[d] +
            system.model.mass_h_Da * (nine[3 + d] + nine[6 + d])) /
           system.model.molecule_mass_Da();
  };
  const State start = engine->state();
  int step = 0;
  for (int n : {1, 20, 100, 400}) {
    engine->advance(n - step);
    step = n;
    const State now = engine->state();
    std::vector<double> products, squares, x_now[3];
    for (std::size_t r = 0; r < kReplicas; ++r) {
      double product = 0.0, square = 0.0;
      for (std::size_t d = 0; d < 3; ++d) {
        const double v0 = centre(&start.velocities_A_per_akma[9 * r], d);
        const double v = centre(&now.velocities_A_per_akma[9 * r], d);
        const double dx = centre(&now.positions_A[9 * r], d) - centre(&start.positions_A[9 * r], d);
        product += v0 * v;
        square += dx * dx;
        x_now[d].push_back(dx);
      }
      products.push_back(product);
      squares.push_back(square);
    }
    double spread = n;
    for (int j = 1; j < n; ++j) spread += 2.0 * (n - j) * std::pow(c, j);
    spread *= h * h * 3.0 * variance;

    const MeanError p = mean_and_error(products), s = mean_and_error(squares);
    RecordProperty(
        "autocorrelation_" + std::to_string(n),
        std::to_string(p.mean / (3.0 * variance)) + ", expected " + std::to_string(std::pow(c, n)));
    RecordProperty("spread_" + std::to_string(n), std::to_string(s.mean / spread));
    EXPECT_NEAR(p.mean, 3.0 * variance * std::pow(c, n), kSigmas * p.error) << "step " << n;
    EXPECT_NEAR(s.mean, spread, kSigmas * s.error) << "step " << n;
    // Of normal numbers errors are known, and of n samples to sqrt((kurtosis - 1)/4n) of
    // themselves: the kurtosis is 3, of squares in three directions 7, and of products no more.
    const double of_normal = kSigmas * std::sqrt(2.0 / (4.0 * kReplicas));
    const double of_squares = kSigmas * std::sqrt(6.0 / (4.0 * kReplicas));
    EXPECT_NEAR(p.error / (variance * std::sqrt(3.0 * (1.0 + std::pow(c, 2 * n)) / kReplicas)), 1.0,
                of_squares);
    EXPECT_NEAR(s.error / (spread * std::sqrt(2.0 / 3.0 / kReplicas)), 1.0, of_squares);
    // No direction is preferred, and replicas do not share their noise: both would show here.
    for (const std::vector<double>& along : x_now) {
      const MeanError x = mean_and_error(along);
      EXPECT_NEAR(x.mean, 0.0, kSigmas * x.error);
      EXPECT_NEAR(x.error, std::sqrt(spread / 3.0 / kReplicas), of_normal * x.error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FreeMolecule,
                         ::testing::Values(EngineCase{"zss_structured", Bath::gla},
                                           EngineCase{"zss_infinite", Bath::gla},
                                           EngineCase{"zss_infinite_single", Bath::gla},
                                           EngineCase{"shake", Bath::gla},
                                           EngineCase{"settle", Bath::gla},
                                           EngineCase{"settle_single", Bath::gla}),
                         EngineCaseName());

/// Each replica has the temperature of the ladder that its id points at.
TEST(TemperatureLadder, ReplicasHaveTheirOwnTemperatures) {
  const std::vector<double> ladder{5.0, 10.0, 40.0};
  for (const std::string scheme : {"settle", "zss_structured"}) {
    for (int n : {1, 20}) {  // the two layouts
      System system = bath_system({scheme, Bath::gla}, n, 2.0);
      system.thermostat.temperatures_K = ladder;
      const int replicas = n == 1 ? 3000 : 150;
      const auto engine = make_cpu_engine(
          system,
          replicas_at(system.model, lattice_cluster(system.model, n, 2), replicas, 1.0, 3, true),
          {});
      // The noise alone, of a friction that forgets everything: no forces have acted yet.
      system.thermostat.friction_oxygen_per_akma = system.thermostat.friction_hydrogen_per_akma =
          1e4;
      const auto fresh = make_cpu_engine(system, engine->state(), {});
      fresh->advance(1);
      Frame f;
      fresh->snapshot(kEnergies, f);
      std::vector<double> found[3];
      for (std::size_t r = 0; r < f.replica_ids.size(); ++r) {
        found[f.replica_ids[r] % 3].push_back(f.energies[r].temperature_K);
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const MeanError t = mean_and_error(found[k]);
        EXPECT_NEAR(t.mean, ladder[k], kSigmas * t.error) << scheme << ", N = " << n;
        EXPECT_LT(t.error, 0.03 * ladder[k]);
      }
    }
  }
}

/// Without a thermostat nothing relaxes: a temperature far from the target stays.
TEST(NoThermostat, LeavesTheTemperatureAlone) {
  System system = bath_system({"settle", Bath::none}, 1, 0.5);
  const auto engine = make_cpu_engine(
      system, replicas_at(system.model, lattice_cluster(system.model, 1, 2), 64, 40.0, 3, true),
      {});
  Frame before, after;
  engine->snapshot(kEnergies, before);
  engine->advance(800);
  engine->snapshot(kEnergies, after);
  for (std::size_t r = 0; r < 64; ++r) {
    EXPECT_NEAR(after.energies[r].temperature_K, before.energies[r].temperature_K,
                1e-9 * before.energies[r].temperature_K);
  }
}

}  // namespace
}  // namespace tarn
