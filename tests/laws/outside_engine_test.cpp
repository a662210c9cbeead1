#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "engine_parts.hpp"
#include "ring_fixtures.hpp"
#include "tarn/cluster_forces.hpp"
#include "tarn/cpu_engine.hpp"
#include "tarn/exchange.hpp"
#include "tarn/force_field.hpp"

/// @file
/// The laws of engines with windows and fields.

namespace tarn {
namespace {

using namespace test;

std::unique_ptr<Engine> engine_of(const System& s, const State& start, int threads = 1) {
  return make_cpu_engine(s, start, {}, threads);
}
State start_of(const System& s, const std::vector<std::int64_t>& ids) {
  return s.path_integral.beads > 1 ? ring_start(s, ids) : start_state(s, ids);
}
Bits bits_of(Engine& engine, std::int64_t id) {
  Frame f;
  engine.snapshot(kEnergies | kRings | kConservation | kShape, f);
  Bits bits = bits_of_ring(engine.state(), id);
  for (std::size_t r = 0; r < f.live(); ++r) {
    if (f.replica_ids[r] != id) continue;
    append_bits(numbers_of(f.energies[r]), bits);
    append_bits(numbers_of(f.rings[r]), bits);
    append_bits({&f.conservation[r].energy_kcal_per_mol, 1}, bits);
  }
  return bits;
}

System with_outside(System s, BiasCoordinate coordinate) {
  const bool contacts = coordinate == BiasCoordinate::contacts;
  s.biases = {{.coordinate = coordinate,
               .molecules = {0, 2},
               .stiffness = 3.0,
               .centres = contacts ? std::vector<double>{1.0, 2.0, 3.0}
                                   : std::vector<double>{2.7, 3.0, 3.3}}};
  if (coordinate == BiasCoordinate::distance) {
    BiasSpec wall{.coordinate = BiasCoordinate::largest_separation,
                  .kind = BiasKind::upper_wall,
                  .stiffness = 2.0,
                  .centres = {3.0}};
    s.biases.push_back(wall);
  }
  set_field_V_per_nm({0.5, -1.0, 0.25}, s.model);
  return s;
}

std::vector<System> systems() {
  const auto one = [](const char* scheme, Bath bath, int n, Precision precision,
                      BiasCoordinate coordinate) {
    return with_outside(make_system({scheme, bath}, tip4p(), n, precision), coordinate);
  };
  std::vector<System> all{
      one("zss_structured", Bath::gla, 7, Precision::double_, BiasCoordinate::separation),
      one("zss_structured", Bath::baoab, 4, Precision::mixed, BiasCoordinate::distance),
      one("settle", Bath::baoab, 7, Precision::double_, BiasCoordinate::largest_separation),
      one("shake", Bath::gla, 5, Precision::double_, BiasCoordinate::contacts),
      one("rattle", Bath::none, 40, Precision::double_, BiasCoordinate::radius_of_gyration),
      one("pushforward", Bath::gla, 4, Precision::double_, BiasCoordinate::distance),
      with_outside(ring_system(5, Bath::baoab, 3, Precision::double_), BiasCoordinate::distance),
      with_outside(ring_system(4, Bath::gla, 3, Precision::mixed), BiasCoordinate::contacts)};
  System many = make_system({"flexible_verlet", Bath::baoab}, tip4p(), 4);
  many.model = *find_water_model("mbpol");
  all.push_back(with_outside(many, BiasCoordinate::distance));
  return all;
}
std::string text_of(const System& s) {
  return std::to_string(s.molecules) + " molecules, " + std::to_string(s.path_integral.beads) +
         " beads, coordinate " + std::to_string(static_cast<int>(s.biases[0].coordinate));
}

TEST(OutsideEngine, BatchesRestartsAndThreadsChangeNoBit) {
  for (const System& s : systems()) {
    SCOPED_TRACE(text_of(s));
    const std::vector<std::int64_t> ids = spread_ids(19);
    const auto whole = engine_of(s, start_of(s, ids));
    whole->advance(6);
    EXPECT_TRUE(whole->blow_ups().empty());
    const auto threads = engine_of(s, start_of(s, ids), 3);
    threads->advance(2);
    threads->advance(4);
    const auto first = engine_of(s, start_of(s, ids));
    first->advance(4);
    const auto second = engine_of(s, first->state());
    second->advance(2);
    const std::int64_t one = ids[2];
    const auto alone = engine_of(s, start_of(s, {one}), 2);
    alone->advance(6);
    for (const std::int64_t id : ids) {
      EXPECT_EQ(bits_of(*threads, id), bits_of(*whole, id));
      EXPECT_EQ(bits_of_ring(second->state(), id), bits_of_ring(whole->state(), id));
    }
    EXPECT_EQ(bits_of(*alone, one), bits_of(*whole, one));
  }
}

/// After an exchange of windows the forces are those of the new ones: as after a restart.
TEST(OutsideEngine, AnExchangeOfWindowsIsThatOfARestart) {
  for (const System& s : systems()) {
    if (s.thermostat.kind == Thermostat::none) continue;
    SCOPED_TRACE(text_of(s));
    const auto engine = engine_of(s, start_of(s, {0, 1, 2, 3, 4, 5}), 2);
    engine->advance(3);
    Frame f;
    engine->snapshot(kEnergies, f);
    // Equation (98), from the energies of the frame.
    const double kT = units::boltzmann_kcal_per_mol_K * replica_temperature_K(s, 0);
    for (const ExchangeAttempt& a : exchange_attempts(s, 3, f)) {
      const auto w = [&](std::int64_t at, std::int64_t window) {
        const double d =
            f.energies[static_cast<std::size_t>(at)].bias_coordinate - s.biases[0].centre(window);
        return 0.5 * s.biases[0].stiffness * d * d;
      };
      const double delta =
          (w(a.lower, a.lower) + w(a.upper, a.upper) - w(a.upper, a.lower) - w(a.lower, a.upper)) /
          kT;
      EXPECT_NEAR(a.probability, std::min(1.0, std::exp(delta)), 1e-9);
    }
    engine->exchange(std::vector<StateExchange>{{0, 1, 1.0, 1.0}, {4, 5, 1.0, 1.0}});
    const auto again = engine_of(s, engine->state());
    for (Engine* e : {engine.get(), again.get()}) e->advance(3);
    for (std::int64_t id = 0; id < 6; ++id) {
      EXPECT_EQ(bits_of_ring(again->state(), id), bits_of_ring(engine->state(), id));
    }
  }
}

/// The total energy, with those of biases and field, has errors of second order on both sides.
TEST(OutsideEngine, EnergyErrorsAreOfSecondOrder) {
  for (System s : systems()) {
    if (has_beta(s.integrator.scheme) || s.path_integral.beads > 1 || s.molecules > 7) continue;
    SCOPED_TRACE(text_of(s));
    s.thermostat = {};
    s.zero_momentum = false;
    const auto largest_error = [&](double step_fs) {
      s.integrator.timestep_akma = units::akma_from_fs(step_fs);
      s.integrator.tolerance = 1e-12;
      const auto engine = engine_of(s, start_state(s, {0}));
      Frame f;
      double first = 0.0, most = 0.0;
      for (int k = 0; k <= static_cast<int>(24.0 / step_fs); ++k) {
        engine->snapshot(kEnergies, f);
        const double total = f.energies.at(0).total_kcal_per_mol;
        if (k == 0) first = total;
        most = std::max(most, std::abs(total - first));
        engine->advance(1);
      }
      return most;
    };
    const double ratio = largest_error(0.2) / largest_error(0.1);
    EXPECT_GT(ratio, 3.4);
    EXPECT_LT(ratio, 4.6);
  }
}

/// A field exerts a torque: only the angular momentum along it, and the momentum, are conserved.
TEST(OutsideEngine, AFieldConservesTheAngularMomentumAlongIt) {
  System s = make_system({"rattle", Bath::none}, tip4p(), 5);
  set_field_V_per_nm({0.0, 0.0, 2.0}, s.model);
  s.zero_momentum = false;
  const auto engine = engine_of(s, start_state(s, {0}));
  Frame before, after;
  engine->snapshot(kConservation, before);
  engine->advance(100);
  engine->snapshot(kConservation, after);
  const Conservation &a = before.conservation[0], &b = after.conservation[0];
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(a.momentum_Da_A_per_akma[k], b.momentum_Da_A_per_akma[k], 1e-10);
  const auto change = [&](int k) {
    return std::abs(b.angular_momentum_Da_A2_per_akma[k] - a.angular_momentum_Da_A2_per_akma[k]);
  };
  EXPECT_LT(change(2), 1e-8);
  EXPECT_GT(change(0) + change(1), 1e-3);
}

/// The forces of all models are minus the gradient of the whole energy, whose derivative by the
/// field is minus the dipole moment: charges and induced dipoles answer to the field exactly.
TEST(Field, EnergiesForcesAndDipolesOfAllKindsOfModelsAgree) {
  for (const char* name : {"mbpol", "dang-chang", "tip4p2005", "qtip4pf"}) {
    SCOPED_TRACE(name);
    WaterModel model = *find_water_model(name);
    const System s = [&] {
      System all =
          make_system({model.is_flexible() ? "flexible_verlet" : "settle", Bath::none}, tip4p(), 3);
      all.model = model;
      return all;
    }();
    const std::vector<double> x = start_state(s, {0}).positions_A;
    const std::array<double, 3> field{2.0, -3.0, 1.0};
    const auto energy = [&](const std::vector<double>& at, const std::array<double, 3>& f) {
      set_field_V_per_nm(f, model);
      return ForceField(model, 3).energy(at).total_kcal_per_mol();
    };
    set_field_V_per_nm(field, model);
    std::vector<double> forces(x.size());
    const ClusterEnergy e = ForceField(model, 3).energy_and_forces(x, forces);
    const std::vector<double> dipole = dipole_moments_e_A(model, 3, x);
    double work = 0.0;
    for (std::size_t k = 0; k < 3; ++k) work -= model.field_kcal_per_mol_e_A[k] * dipole[k];
    EXPECT_NEAR(e.field_kcal_per_mol, work, 1e-10);
    // Central differences have errors of h^2 times a third derivative, about 1e4 kcal/mol/A^3.
    constexpr double kH = 1e-4;
    for (std::size_t k = 0; k < x.size(); ++k) {
      std::vector<double> up = x, down = x;
      up[k] += kH;
      down[k] -= kH;
      EXPECT_NEAR(forces[k], -(energy(up, field) - energy(down, field)) / (2.0 * kH), 2e-4) << k;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      auto up = field, down = field;
      up[k] += 0.1;
      down[k] -= 0.1;
      // The energy is a quadratic function of the field.
      const double slope =
          (energy(x, up) - energy(x, down)) / (2.0 * units::field_from_V_per_nm(0.1));
      EXPECT_NEAR(-slope, dipole[k], 1e-9);
    }
  }
}

}  // namespace
}  // namespace tarn
